import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The task that every server of this folder gets through the environment, so that all give the same answers. */
const { BENCH_TASK, BENCH_PUBLIC_KEY, BENCH_ISSUER, BENCH_AUDIENCE, PORT } = process.env;

/** The tool definitions, and the answer of every call. */
export const { tools, answer } = JSON.parse(readFileSync(BENCH_TASK, 'utf8'));

export const port = Number(PORT);

/** The settings that verify tokens; null if the server runs without. */
export const token = BENCH_PUBLIC_KEY
  ? {
      pem: BENCH_PUBLIC_KEY,
      key: createPublicKey(BENCH_PUBLIC_KEY),
      claims: { algorithms: ['RS256'], issuer: BENCH_ISSUER, audience: BENCH_AUDIENCE },
    }
  : null;
