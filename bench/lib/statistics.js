/**
 * The median of several runs and their range.
 *
 * @typedef {{ readonly median: number, readonly min: number, readonly max: number }} Spread
 */

/**
 * @param {readonly number[]} values at least one
 * @returns {Spread}
 */
export function spreadOf(values) {
  return { median: percentile(values, 50), min: Math.min(...values), max: Math.max(...values) };
}

/**
 * The value that a share of all values does not exceed, interpolated between two values.
 *
 * @param {readonly number[]} values at least one
 * @param {number} percent 0 to 100
 */
export function percentile(values, percent) {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = ((sorted.length - 1) * percent) / 100;
  const below = sorted[Math.floor(rank)];
  const above = sorted[Math.ceil(rank)];
  if (below === undefined || above === undefined) throw new RangeError('no values');
  return below + (above - below) * (rank - Math.floor(rank));
}

/**
 * The ratios of consecutive runs, so that a slow phase of the machine affects both.
 *
 * @param {readonly number[]} ours
 * @param {readonly number[]} theirs as many
 * @returns {Spread}
 */
export function pairedRatio(ours, theirs) {
  return spreadOf(ours.map((value, run) => value / Number(theirs[run])));
}

/**
 * Runs contestants in turn, A B C A B C …, so that a slow phase of the machine affects all of them.
 *
 * @template T
 * @param {number} rounds
 * @param {ReadonlyMap<string, (round: number) => T | Promise<T>>} contestants
 * @returns {Promise<Map<string, T[]>>} the result of every round, by contestant
 */
export async function interleaved(rounds, contestants) {
  /** @type {Map<string, T[]>} */
  const results = new Map([...contestants.keys()].map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of contestants) results.get(name)?.push(await run(round));
  }
  return results;
}

/**
 * The exponent `b` of the power law `y = a·x^b` that fits the points best: 1 is linear growth, 2 quadratic.
 *
 * @param {readonly { readonly x: number, readonly y: number }[]} points both coordinates above 0
 */
export function growthExponent(points) {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const meanX = logs.reduce((sum, { x }) => sum + x, 0) / logs.length;
  const meanY = logs.reduce((sum, { y }) => sum + y, 0) / logs.length;
  const covariance = logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const variance = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return covariance / variance;
}
