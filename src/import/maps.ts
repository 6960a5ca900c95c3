import { isObject, type Json, type JsonObject } from 'market-mcp-contract/json';

/** A number, a date, a version, or an id, which no member is called. A prefix such as the chain of an address is allowed. */
const dataKey = new RegExp(
  `^(?:[\\w-]+:)?(?:${[
    '-?\\d[\\d.:TZ+ -]*',
    'v?\\d+\\.\\d+\\.\\d[\\w.+-]*',
    '[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}',
    '(?:0x)?(?=[0-9a-fA-F]*\\d)[0-9a-fA-F]{16,}',
    '(?=[A-Za-z]*\\d)[1-9A-HJ-NP-Za-km-z]{32,44}', // base58, such as an address of Solana
    '(?:bc|tb|[a-z]{3,12})1[02-9ac-hj-np-z]{25,}', // bech32
  ].join('|')})$`,
);

/** `BTCUSDT`, `BRK-B`: a code, if there are several, and their values are not words. */
const code = /^[A-Z][A-Z\d]*(?:[-_/.][A-Z\d]+)*$/;
const currencies = new Set(Intl.supportedValuesOf('currency'));

/** Names of members that may have the same form although each means something else. */
const role =
  /^(open|close|safe_?low|low|medium|standard|normal|average|slow|fast|fastest|instant|rapid|high|min|max|home|away|bids?|asks?|buy|sell|base|quote|previous|current|next|last|first|from|to|start|end|before|after|today|yesterday|tomorrow|sun(rise|set)|moon(rise|set)|data|meta|result|errors?)$/i;

/**
 * Whether the keys of objects at one position are data: dates, addresses, codes, values of the inputs, keys that differ from
 * sample to sample; at the root also keys of several objects of one form.
 *
 * @param isRoot whether the object is the whole answer
 * @param inputs values of the inputs of the tool, which may be keys of its answers
 */
export function keysAreData(
  objects: readonly JsonObject[],
  isRoot: boolean,
  inputs: ReadonlySet<string>,
): boolean {
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  if (names.length === 0) return false;
  if (names.every((name) => dataKey.test(name))) return true;
  const values = objects.flatMap((object) => Object.values(object)).filter((value) => value !== null);
  if (!areAlike(values)) return false;
  if (names.every((name) => currencies.has(name))) return true;
  const isRole = names.some((name) => role.test(name));
  const several = names.length > 1;
  const areCodes =
    several && names.every((name) => code.test(name)) && names.some(({ length }) => length > 1);
  const areWords = values.some((value) => typeof value === 'string' && !/^[-+]?[\d.]+$/.test(value));
  if (areCodes && !areWords && !isRole) return true;
  if (names.every((name) => inputs.has(name))) return true;
  const areObjects = values.every(isObject);
  const hasNull = objects.some((object) => Object.values(object).includes(null));
  const differ = !names.some((name) => objects.every((object) => Object.hasOwn(object, name)));
  if (differ && (isRoot || areObjects)) return true;
  return isRoot && several && areObjects && !hasNull && !isRole;
}

/** Whether values have one type; objects share at least half of their members. */
function areAlike(values: readonly Json[]): boolean {
  const kinds = new Set(values.map((value) => (Array.isArray(value) ? 'array' : typeof value)));
  if (kinds.size !== 1) return false;
  const objects = values.filter(isObject);
  if (objects.length === 0) return true;
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const shared = names.filter((name) => objects.every((object) => Object.hasOwn(object, name)));
  return shared.length > 0 && shared.length * 2 >= names.length;
}
