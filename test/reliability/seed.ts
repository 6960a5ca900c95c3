import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** What all random choices of a run follow from. */
    seed: number;
  }
}

/** The seed of this run; the environment variable RELIABILITY_SEED repeats a run that printed it. */
export const seed = inject('seed');
