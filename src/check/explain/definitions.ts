import { placeholderComment } from '../../contract/placeholder.ts';
import { definition, type Explanations, parameter } from './model.ts';

const symbol = { type: 'string', description: 'Ticker of the coin.', examples: ['BTC'] };

/** Names, descriptions and parameters of tools. */
export const definitionExplanations: Explanations = {
  'tool.readable': {
    why: 'The marketplace stores each element of the list and shows it to agents. What is not an object, or is larger than any reader takes, cannot be listed, called or judged.',
    failing: 'tools/list\n→ {"tools": ["get_price", {"name": "list_coins", …}]}',
    passing: 'tools/list\n→ {"tools": [{"name": "get_price", …}, {"name": "list_coins", …}]}',
  },
  'tool.name': definition(
    'The name is the only way to say in tools/call which tool is meant.',
    { name: '' },
    { name: 'get_price' },
  ),
  'tool.name-unique': {
    why: 'tools/call names a tool by its name alone: of two with the same one, one can never be reached.',
    failing: [
      { name: 'get_price', description: 'Returns the last price of a coin. Use it for a quick look.' },
      { name: 'get_price', description: 'Returns the average price of a day. Use it for statistics.' },
    ],
    passing: [
      { name: 'get_price', description: 'Returns the last price of a coin. Use it for a quick look.' },
      {
        name: 'get_daily_average',
        description: 'Returns the average price of a day. Use it for statistics.',
      },
    ],
  },
  'tool.name-pattern': definition(
    'Several clients turn names into identifiers for a language model; one name that does not fit hides all tools of the server there.',
    { name: 'get price!' },
    { name: 'get_price' },
  ),
  'tool.description': definition(
    'Agents choose tools by reading their descriptions. A tool without one is not chosen, and so not paid for.',
    { description: '' },
    { description: 'Returns the last price of one coin. Use it when a question names a coin.' },
  ),
  'tool.description-length': definition(
    'A few words cannot set a tool apart from the hundreds of others an agent may choose from.',
    { description: 'Returns prices to use.' },
    { description: 'Returns the last price of one coin in US dollars. Use it when a question names a coin.' },
  ),
  'tool.description-complete': definition(
    'An agent asks two things: what do I get, and is it what I need now? A text that leaves one open leads to wrong choices.',
    { description: 'Prices of coins on the largest exchanges, fresh every minute.' },
    {
      description:
        'Returns the last price of one coin, at most a minute old. Use it when a question names a coin.',
    },
  ),
  'tool.description-own-words': definition(
    'A description that repeats the name adds nothing to it: the agent knows as much as before.',
    {
      name: 'returns_last_traded_price_when_used_for_coins',
      description: 'Returns the last traded price when used for coins.',
    },
    {
      name: 'get_price',
      description: 'Returns the last traded price of a coin in USD. Use it when a question names a coin.',
    },
  ),
  'tool.description-distinct': {
    why: 'Two tools that say the same of themselves are chosen between at random.',
    failing: [
      { name: 'get_spot', description: 'Returns the price of a coin. Use it when a question names a coin.' },
      {
        name: 'get_futures',
        description: 'Returns the price of a coin. Use it when a question names a coin.',
      },
    ],
    passing: [
      {
        name: 'get_spot',
        description: 'Returns the spot price of a coin. Use it for what a coin costs now.',
      },
      {
        name: 'get_futures',
        description: 'Returns the futures prices of a coin. Use it for what the market expects.',
      },
    ],
  },
  'tool.to-do': definition(
    'What a description says is all that an agent knows of a tool or a field. A to-do says nothing, and every caller sees it.',
    { description: 'TODO: what get_price returns and when to use it for a coin.' },
    { description: 'Returns the last price of one coin. Use it when a question names a coin.' },
  ),
  'input.object-root': definition(
    'The arguments of a call are named: they always are one JSON object.',
    { inputSchema: { properties: { symbol }, required: ['symbol'] } },
    { inputSchema: { type: 'object', properties: { symbol }, required: ['symbol'] } },
  ),
  'input.properties': definition(
    'Readers take the parameters from properties; where it is missing they cannot tell a tool without parameters from a broken one.',
    { inputSchema: { type: 'object', required: [] } },
    { inputSchema: { type: 'object', properties: {}, required: [] } },
  ),
  'input.required': definition(
    'Without the list, the submission test takes every parameter for required and sends invented values.',
    { inputSchema: { type: 'object', properties: { symbol } } },
    { inputSchema: { type: 'object', properties: { symbol }, required: [] } },
  ),
  'input.required-declared': definition(
    'Nobody can send a parameter that is demanded and described nowhere.',
    { inputSchema: { type: 'object', properties: { symbol }, required: ['symbol', 'market'] } },
    { inputSchema: { type: 'object', properties: { symbol }, required: ['symbol'] } },
  ),
  'input.compiles': parameter(
    'Servers, clients and the marketplace validate arguments with this schema. One that does not compile is an exception in each of them.',
    { ...symbol, pattern: '(' },
    { ...symbol, pattern: '^[A-Z]+$' },
  ),
  'input.type': parameter(
    'For a parameter without one plain type the submission test sends {}, which hardly any tool takes.',
    { ...symbol, type: ['string', 'null'] },
    symbol,
  ),
  'input.description': parameter(
    'Agents fill in parameters by their descriptions: is it a ticker, a name, an address?',
    { type: 'string', examples: ['BTC'] },
    symbol,
  ),
  'input.sample': parameter(
    'Agents and the submission test build their arguments from default, examples and enum. Without any of them the test sends "test".',
    { type: 'string', description: 'Ticker of the coin.' },
    symbol,
  ),
  'input.placeholder': parameter(
    'An author gave no value for this parameter, so one was made up that its schema allows. Agents copy examples: a made-up one leads them to calls that find nothing.',
    { ...symbol, examples: ['sample'], $comment: placeholderComment },
    symbol,
  ),
  'input.default': parameter(
    'The submission test sends the default first of all: one that the tool itself refuses fails the submission.',
    { ...symbol, default: 5 },
    { ...symbol, default: 'BTC' },
  ),
  'input.examples': parameter(
    'Examples are copied into calls. One that does not fit makes calls fail which the author has suggested.',
    { ...symbol, examples: ['BTC', 5] },
    { ...symbol, examples: ['BTC', 'ETH'] },
  ),
  'input.enum': parameter(
    'A value that the type forbids can never be sent, though the list offers it.',
    { ...symbol, enum: ['BTC', 'ETH', 5] },
    { ...symbol, enum: ['BTC', 'ETH'] },
  ),
  'input.items': parameter(
    'Nobody knows what to put into such a list, so the submission test and most agents send an empty one.',
    { type: 'array', description: 'Tickers of the coins.', examples: [['BTC']] },
    { type: 'array', description: 'Tickers of the coins.', items: { type: 'string' }, examples: [['BTC']] },
  ),
  'input.smoke-arguments': parameter(
    'The submission test calls each tool once with the arguments it builds from the schema. If they do not fit, the tool can only refuse them, and the submission fails.',
    { type: 'string', description: 'Ticker of the coin.', pattern: '^[A-Z]+$' },
    { type: 'string', description: 'Ticker of the coin.', pattern: '^[A-Z]+$', examples: ['BTC'] },
  ),
};
