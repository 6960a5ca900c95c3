import { placeholderComment } from '../definition/placeholder.ts';
import { definition, describedTool, type Explanations, parameter, taking } from './explanation.ts';

const symbol = { type: 'string', description: 'Ticker of the coin.', examples: ['BTC'] };

/** Names, descriptions and parameters of tools. */
export const definitionExplanations: Explanations = {
  'tool.readable': {
    why: 'The marketplace stores each element of the list and shows it to agents. An element that is not an object or is too large cannot be listed, called or checked.',
    failing: 'tools/list\n→ {"tools": ["get_price", {"name": "list_coins", …}]}',
    passing: 'tools/list\n→ {"tools": [{"name": "get_price", …}, {"name": "list_coins", …}]}',
  },
  'tool.name': definition(
    'tools/call refers to a tool by its name only.',
    { name: '' },
    { name: 'get_price' },
  ),
  'tool.name-unique': {
    why: 'tools/call refers to a tool by its name only. If two tools have the same name, one of them can never be called.',
    failing: [
      describedTool('get_price', 'Returns the last price of a coin. Use it for a quick look.'),
      describedTool('get_price', 'Returns the average price of a day. Use it for statistics.'),
    ],
    passing: [
      describedTool('get_price', 'Returns the last price of a coin. Use it for a quick look.'),
      describedTool('get_daily_average', 'Returns the average price of a day. Use it for statistics.'),
    ],
  },
  'tool.name-pattern': definition(
    'Several clients turn names into identifiers for a language model. In these clients, one invalid name hides all tools of the server.',
    { name: 'get price!' },
    { name: 'get_price' },
  ),
  'tool.description': definition(
    'Agents choose tools by their descriptions. A tool without a description is not chosen and earns nothing.',
    { description: '' },
    { description: 'Returns the last price of one coin. Use it when a question names a coin.' },
  ),
  'tool.description-length': definition(
    'A few words cannot distinguish a tool from the hundreds of others that an agent may choose from.',
    { description: 'Returns prices to use.' },
    { description: 'Returns the last price of one coin in US dollars. Use it when a question names a coin.' },
  ),
  'tool.description-complete': definition(
    'An agent needs to know two things: what the tool returns, and when to use it. A description without one of them leads to wrong choices.',
    { description: 'Prices of coins on the largest exchanges, fresh every minute.' },
    {
      description:
        'Returns the last price of one coin, at most a minute old. Use it when a question names a coin.',
    },
  ),
  'tool.description-own-words': definition(
    'A description that repeats the name tells an agent nothing new.',
    describedTool(
      'returns_last_traded_price_when_used_for_coins',
      'Returns the last traded price when used for coins.',
    ),
    describedTool(
      'get_price',
      'Returns the last traded price of a coin in USD. Use it when a question names a coin.',
    ),
  ),
  'tool.description-distinct': {
    why: 'If two tools have the same description, an agent chooses between them at random.',
    failing: [
      describedTool('get_spot', 'Returns the price of a coin. Use it when a question names a coin.'),
      describedTool('get_futures', 'Returns the price of a coin. Use it when a question names a coin.'),
    ],
    passing: [
      describedTool('get_spot', 'Returns the spot price of a coin. Use it for what a coin costs now.'),
      describedTool(
        'get_futures',
        'Returns the futures prices of a coin. Use it for what the market expects.',
      ),
    ],
  },
  'tool.to-do': definition(
    'An agent knows a tool or a field only from its description. A to-do says nothing, and neither does a method with its path or the name of the field again. Every caller sees it.',
    { description: 'TODO: what get_price returns and when to use it for a coin.' },
    { description: 'Returns the last price of one coin. Use it when a question names a coin.' },
  ),
  'input.object-root': definition(
    'The arguments of a call are always one JSON object.',
    { inputSchema: { properties: { symbol }, required: ['symbol'] } },
    taking({ symbol }, ['symbol']),
  ),
  'input.properties': definition(
    'Clients read the parameters from properties. If it is missing, a tool without parameters looks like a broken one.',
    { inputSchema: { type: 'object', required: [] } },
    taking({}),
  ),
  'input.required': definition(
    'Without the list, the submission test treats every parameter as required and sends made-up values.',
    { inputSchema: { type: 'object', properties: { symbol } } },
    taking({ symbol }),
  ),
  'input.required-declared': definition(
    'Nobody knows what to send for a parameter that is required but not declared.',
    taking({ symbol }, ['symbol', 'market']),
    taking({ symbol }, ['symbol']),
  ),
  'input.compiles': parameter(
    'Servers, clients and the marketplace validate arguments with this schema. If it does not compile, each of them throws an exception.',
    { ...symbol, pattern: '(' },
    { ...symbol, pattern: '^[A-Z]+$' },
  ),
  'input.type': parameter(
    'For a parameter without exactly one type, the submission test sends {}, which hardly any tool accepts.',
    { ...symbol, type: ['string', 'null'] },
    symbol,
  ),
  'input.description': parameter(
    'Agents read in the description whether a parameter is, for example, a ticker, a name or an address.',
    { type: 'string', examples: ['BTC'] },
    symbol,
  ),
  'input.sample': parameter(
    'Agents and the submission test build their arguments from default, examples and enum. Without these, the test sends "test".',
    { type: 'string', description: 'Ticker of the coin.' },
    symbol,
  ),
  'input.placeholder': parameter(
    'The author gave no value for this parameter, so the example was made up. Agents copy examples, and calls with a made-up value find nothing.',
    { ...symbol, examples: ['sample'], $comment: placeholderComment },
    symbol,
  ),
  'input.default': parameter(
    'If a parameter has a default, the submission test sends it. A default that the tool refuses makes the submission fail.',
    { ...symbol, default: 5 },
    { ...symbol, default: 'BTC' },
  ),
  'input.examples': parameter(
    'Agents copy examples into calls. Calls with an invalid example fail, although the author suggested it.',
    { ...symbol, examples: ['BTC', 5] },
    { ...symbol, examples: ['BTC', 'ETH'] },
  ),
  'input.enum': parameter(
    'A value that the type forbids can never be sent, although the list offers it.',
    { ...symbol, enum: ['BTC', 'ETH', 5] },
    { ...symbol, enum: ['BTC', 'ETH'] },
  ),
  'input.items': parameter(
    'Without items, nobody knows what such a list contains. The submission test and most agents send an empty one.',
    { type: 'array', description: 'Tickers of the coins.', examples: [['BTC']] },
    { type: 'array', description: 'Tickers of the coins.', items: { type: 'string' }, examples: [['BTC']] },
  ),
  'input.smoke-arguments': parameter(
    'The submission test calls each tool once with arguments built from the schema. If they are invalid, the tool must refuse them, and the submission fails.',
    { type: 'string', description: 'Ticker of the coin.', pattern: '^[A-Z]+$' },
    { type: 'string', description: 'Ticker of the coin.', pattern: '^[A-Z]+$', examples: ['BTC'] },
  ),
};
