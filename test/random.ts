/** The seed of all random choices of a run. Each run prints it; `TEST_SEED=<seed>` in the environment repeats a run. */
export const seed = Number(process.env.TEST_SEED);
if (!Number.isSafeInteger(seed))
  throw new Error(`TEST_SEED must be a whole number, not ${process.env.TEST_SEED}`);

/** A repeatable source of random numbers from 0 to 1 (mulberry32). */
export type Random = () => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** One of several values. @throws Error if there is none */
export function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}
