/** What a segment of a path identifies. */
export type SegmentKind = 'id' | 'address' | 'hash' | 'ip' | 'date' | 'symbol';

/** A segment of a path that an author turns into an argument: `{ name: 'symbol', value: 'BTC' }`. */
export interface SegmentInput {
  readonly name: string;
  /** The segment as the request has it, decoded. */
  readonly value: string;
}

/** Versions (`v1`, `v1beta`, `2.0`), locales (`en-US`), and capitals that are names of interfaces or countries. */
const constantWord =
  /^(?:v\d+\w*|\d+\.\d+(?:\.\d+)*|[a-z]{2}(?:[-_][A-Z]{2})?|API|JSON|XML|CSV|RSS|REST|RPC|OHLCV?|DEFAULT|US|USA|EU|UK)$/;

/** Up to ten capitals and digits, or two such parts: `BTC`, `BRK-B`, `BTC_USDT`. */
const symbol = /^(?=[^a-z]*[A-Z])[A-Z\d]{2,10}(?:[-_/][A-Z\d]{1,10})?$/;

const date = /^\d{4}-\d{2}-\d{2}(?:(?:\.\.|--|_|:|,)\d{4}-\d{2}-\d{2})?$/;

/**
 * Guesses whether a segment of a path is a value, which the caller of a tool chooses, and of which kind.
 *
 * @param preceding the segments before it, decoded
 * @returns undefined for a constant
 */
export function segmentKind(segment: string, preceding: readonly string[]): SegmentKind | undefined {
  const words = preceding.filter((word) => word !== '');
  // A short number at the start is the version of an API.
  if (words.length === 0 && /^\d{1,2}$/.test(segment)) return undefined;
  const kind = idKind(segment);
  if (kind !== undefined) return kind;
  if (date.test(segment)) return words.length === 0 ? undefined : 'date';
  if (constantWord.test(segment)) return undefined;
  if (isSymbol(segment, words)) return 'symbol';
  if (isAssignedId(segment)) return 'id';
  return undefined;
}

/**
 * Whether a constant segment may still be a value that only its author recognizes, such as `bitcoin`. Such a segment stands behind
 * a word, and is no version, locale or name of an interface.
 */
export function mayBeValue(segment: string, preceding: readonly string[]): boolean {
  const hasWord = preceding.some(
    (word) => !/^(?:api|rest|public|json)?$/.test(word) && !constantWord.test(word),
  );
  return hasWord && segment !== '' && !constantWord.test(segment);
}

/** Returns the kind of a text that looks like an id anywhere: a number, a hash, an address, a UUID. */
export function idKind(segment: string): 'id' | 'address' | 'hash' | 'ip' | undefined {
  if (/^0x[\da-f]{40}$/i.test(segment)) return 'address';
  if (/^(?:\d{1,3}\.){3}\d{1,3}$/.test(segment)) return 'ip';
  if (/^(?:0x)?[\da-f]{64}$/i.test(segment)) return 'hash';
  if (/^\d+$|^0x[\da-f]{6,}$|^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(segment)) return 'id';
  if (/^(?=.*\d)[\da-f]{16,}$/i.test(segment)) return 'id';
  if (/^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[1-9A-HJ-NP-Za-km-z]{26,62}$/.test(segment)) return 'address';
  return undefined;
}

/** Whether an API has assigned an id: behind a prefix (`cmpn_101`, `acct_AB1`), or random (`dQw4w9WgXcQ`). */
function isAssignedId(segment: string): boolean {
  const hasPrefix = /^[A-Za-z]+_(?:\d|[A-Z]{2})\w*$/.test(segment);
  return hasPrefix || /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w-]{10,}$/.test(segment);
}

/** Whether a segment is a symbol behind a word in small letters, or behind the first symbol of a pair: `/pairs/BTC/USD`. */
function isSymbol(segment: string, preceding: readonly string[]): boolean {
  if (!symbol.test(segment)) return false;
  const isWord = (text = '') => /^[a-z][a-z_-]+$/.test(text) && !constantWord.test(text);
  const [before, last] = preceding.slice(-2).length === 2 ? preceding.slice(-2) : ['', preceding.at(-1)];
  return (
    isWord(last) || (last !== undefined && symbol.test(last) && !constantWord.test(last) && isWord(before))
  );
}
