import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { repository } from '../e2e/support.ts';

/** A row of the table that `npm run docs deploy` makes of what the tests have found. */
export interface Proof {
  /** What ran, and with which programs. */
  readonly how: string;
  /** How the rules of the contract ended. */
  readonly rules: string;
  /** Bytes that the image adds to its base. */
  readonly bytes?: number;
  /** Milliseconds from the start of the process or container to the first answer of /health. */
  readonly coldStartMs?: number;
}

/** Keeps a proof, or why it was not run and what to install for it. */
export function recordProof(target: string, proof: Proof | { readonly notRun: string }): void {
  const directory = join(repository, 'node_modules/.cache/deploy-proofs');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${target}.json`), JSON.stringify(proof));
}

/** Waits for the first answer of /health. Returns the milliseconds since a moment of `performance`. */
export async function untilHealthy(origin: string, since: number): Promise<number> {
  const isHealthy = () =>
    fetch(`${origin}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await vi.waitUntil(isHealthy, { timeout: 180_000, interval: 10 });
  return Math.round(performance.now() - since);
}
