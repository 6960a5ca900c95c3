import { objectOr } from '../../../packages/contract/src/json/json.ts';
import type { Json, JsonObject } from '../../../packages/contract/src/json/value.ts';
import { resultOf } from '../good-server.ts';
import { returning, textField } from '../returning.ts';
import type { Broken, Variant } from '../variant.ts';

const coins = [
  { symbol: 'BTC', price: 64_000 },
  { symbol: 'ETH', price: 3_100 },
  { symbol: 'SOL', price: 140 },
];

const listSchema: JsonObject = {
  type: 'array',
  items: {
    type: 'object',
    description: 'One coin.',
    properties: {
      symbol: { type: 'string', description: 'Ticker of the coin.' },
      price: { type: 'number', description: 'Last traded price.' },
    },
  },
};

const search = 'Searches coins by their ticker. Use it to find a coin that a question names.';
const lookup = 'Returns the price of one coin, with its networks. Use it when a question names a coin.';

/** What a search says to a text. */
interface SearchAnswer {
  readonly coins?: readonly JsonObject[];
  readonly note?: string;
  /** The message of a failure. */
  readonly failure?: string;
}

/**
 * A server whose get_price also returns a list and a note.
 *
 * @param answer what it finds for a text; undefined leaves the text to the good server
 */
function answering(
  answer: (text: string, isKnown: boolean, currency: Json | undefined) => SearchAnswer | undefined,
  description = search,
): Variant {
  const { list } = returning(
    { coins: { schema: listSchema, value: () => [] }, note: textField(() => '') },
    { description },
  );
  return {
    ...(list && { list }),
    call: (good) => async (params) => {
      const result = await good(params);
      const { symbol, currency } = objectOr(params.arguments);
      const isOther = params.name !== 'get_price' || result.isError === true || symbol === 'XYZ';
      if (isOther || typeof symbol !== 'string') return result;
      const data = objectOr(result.structuredContent);
      const isKnown = typeof data.price === 'number';
      const said = answer(symbol, isKnown, currency);
      if (!said) return result;
      const { failure, ...found } = said;
      if (failure === undefined) return resultOf({ ...data, ...nothingSaid, ...found } as JsonObject);
      return {
        ...resultOf({ symbol: null, price: null, error: 'NOT_FOUND', message: failure }),
        isError: true,
      };
    },
  };
}

/** In place of the signals of an empty result. */
const nothingSaid = { searchExhausted: false, noResultsReason: '' };

/** A server that adds to its answers what it has kept of earlier calls. */
function remembering(
  says: (texts: readonly string[], isKnown: boolean) => SearchAnswer | undefined,
  description?: string,
): Variant {
  const texts: string[] = [];
  return answering((text, isKnown) => {
    const answer = says(texts, isKnown);
    texts.push(text);
    return answer;
  }, description);
}

/** A text whose UTF-8 was read as Latin-1. */
function misread(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** A search that answers by a failure where nothing matches. */
export function failsWithoutMatch(): Variant {
  return answering((_text, isKnown) => (isKnown ? undefined : { failure: 'No coin matches this text.' }));
}

const inEuros = coins.map(({ symbol, price }) => ({ symbol, price: price / 2 }));

export const brokenSearches: Broken<Variant> = {
  'explore.own-texts': [
    remembering((texts, isKnown) => (isKnown ? { note: `Before: ${texts.at(-1)}` } : undefined)),
    remembering((texts) => ({ coins, note: texts.slice(-200).join(', ') })),
  ],
  'explore.text-matters': answering((_text, _isKnown, currency) => ({
    coins: currency === 'EUR' ? inEuros : coins,
  })),
  'explore.echo-utf8': answering((text, isKnown) =>
    isKnown ? undefined : { coins, note: `No coin is named ${misread(text)}.` },
  ),
  'explore.invented-row': answering((text, isKnown) =>
    isKnown ? undefined : { coins: [{ symbol: text, price: 12.5 }] },
  ),
};

/** A server whose prices change with each call, and which says whether it used the default currency. */
function changing(): Variant {
  let count = 0;
  return answering((_text, isKnown, currency) => {
    count += 1;
    if (!isKnown) return undefined;
    return {
      coins: coins.map(({ symbol, price }) => ({ symbol, price: price + count })),
      note: `Prices in ${currency ?? 'the default currency'}.`,
    };
  }, lookup);
}

/** Searches that answer in another way than the good one, and are right. */
export const correctSearches: Readonly<Record<string, Variant>> = {
  'recent searches of all callers': remembering(
    (texts) => ({ coins, note: texts.slice(-200).join(', ') }),
    'Searches coins by their ticker, and shows the recent searches of all callers. Use it to find a coin.',
  ),
  'popular coins with a note where nothing matches': answering((text) => ({
    coins,
    note:
      text === 'BTC' || text === 'ETH' ? 'Exact match first.' : 'Nothing matches. These coins are popular.',
  })),
  'similar names where nothing matches': answering((text, isKnown) =>
    isKnown ? undefined : { coins: coins.slice(0, 1), note: `Did you mean BTC instead of ${text}?` },
  ),
  'the same networks for each coin': answering(
    (_text, _isKnown, currency) => ({ coins: currency === 'EUR' ? inEuros : coins }),
    lookup,
  ),
  'prices that change with each call, and a note about the default': changing(),
  'an analysis of any text': answering(
    (text) => ({ coins: [{ symbol: text, price: 0.7 }] }),
    'Analyzes the sentiment of any text about a coin. Use it when a question quotes what others say.',
  ),
  'a lookup that fails for an unknown id': answering(
    (_text, isKnown) => (isKnown ? undefined : { failure: 'Coin not found.' }),
    lookup,
  ),
};
