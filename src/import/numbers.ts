/** Last words of names whose values are whole: `comment_count`, `userId`, `blockNumber`. */
const counts = new Set(
  (
    'id ids page pages count counts number rank nonce decimals year block slot epoch confirmations code status port ' +
    'votes likes stars forks views downloads comments replies followers employees population'
  ).split(' '),
);

/** Whole only if they are the whole name. */
const alone = new Set('day hour minute month week weekday quarter season episode'.split(' '));

/** Words that mean a fraction, whatever stands beside them: `average_count`. */
const shares = new Set(
  'avg average mean median ratio rate rates rating share score percent percentage pct'.split(' '),
);

/** Words of measures, which are whole by chance only. */
const measures = new Set(
  (
    'price prices cost fee fees amount value balance volume cap mcap supply usd eur btc eth total sum open high low close ' +
    'bid ask change temperature temp humidity pressure speed distance weight width height length size depth duration ' +
    'seconds minutes hours days latitude longitude lat lon lng latlng coordinates coords bbox position elevation min max'
  ).split(' '),
);

const timeWord =
  /^(time|timestamp|ts|t|dt|at|date|created|updated|modified|expires|since|until|sunrise|sunset)$/;

/** Seconds since 1970 have ten digits, milliseconds thirteen. */
const leastTime = 1e9;

/** So many different whole numbers are no chance. */
const several = 3;

/**
 * Whether all values of a position in answers are integers, also the values that the samples do not contain: by its name, or
 * since several samples say so.
 *
 * @param name of the member, or of the list that contains the values; undefined if there is none
 */
export function areWhole(values: readonly number[], name = ''): boolean {
  if (!values.every(Number.isInteger)) return false;
  const words = name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  if (words.some((word) => shares.has(word))) return false;
  if (counts.has(last) || (words.length === 1 && alone.has(last))) return true;
  if (timeWord.test(last) && values.every((value) => value >= leastTime)) return true;
  if (words.some((word) => measures.has(word))) return false;
  return /^(num|number|count|page)$/.test(words[0] ?? '') || new Set(values).size >= several;
}
