import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import type { Report, RuleResult } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import type { Environment, Runtime } from '../../packages/contract/src/target.ts';
import { createSigner } from '../../packages/contract/src/wire/signer.ts';
import { createLauncher } from '../../src/check/launch.ts';
import { createSteps, serve, type Trust } from './good-server.ts';
import { goodTools } from './good-tools.ts';
import type { BrokenServer } from './variant.ts';

const audience = 'https://tools.example.com/mcp';
export const examples = new Map(goodTools.map(({ definition, examples }) => [definition.name, examples]));
export const signer = await createSigner(context.token, audience);

/** The trust of every server under test. */
export const trust: Trust = { publicKey: signer.publicKey, issuer: signer.issuer, audience };

const goodRuntime: Runtime = { version: '1.0.0', newest: '1.0.0', differences: [] };

/** This rule waits for a second, so it judges only servers with an error in their authentication, and the good one. */
const waiting = 'gate.expired-after-success';

/** Runs the contract on a server in this process; rules about its process are not judged. */
export async function checkServer(variant: Partial<BrokenServer>): Promise<Report> {
  const { rule = '', breaks, profile = (same) => same, url = (same) => same, attach } = variant;
  const runtime = { ...goodRuntime, ...variant.runtime };
  const server = await serve(createSteps(trust, breaks), 0, attach);
  try {
    return await runContract(
      { url: url(server.url), profile: profile(context), examples, signer, runtime },
      { selects: ({ id, onlyNamed }) => !onlyNamed && (id !== waiting || /^gate|^$/.test(rule)) },
    );
  } finally {
    await server.stop();
  }
}

/** The good server as a program that can be started any number of times. */
export interface Program {
  /** The file that Node runs. */
  readonly entry: string;
  check(variant: Partial<BrokenServer>): Promise<Report>;
  remove(): Promise<void>;
}

export async function buildProgram(): Promise<Program> {
  const directory = await mkdtemp(join(tmpdir(), 'good-server-'));
  const entry = join(directory, 'main.mjs');
  await build({
    input: fileURLToPath(new URL('main.ts', import.meta.url)),
    platform: 'node',
    output: { file: entry, codeSplitting: false },
  });
  return {
    entry,
    check: ({ rule = '', profile = (same) => same, environment }) =>
      checkProgram(entry, rule, profile(context), environment),
    remove: () => rm(directory, { recursive: true }),
  };
}

/** A broken server that does not answer is given up after this time. The good one may answer late on a busy machine. */
const startMs = { good: 30_000, broken: 5_000 };

async function checkProgram(
  entry: string,
  rule: string,
  profile: typeof context,
  environment: Environment = {},
): Promise<Report> {
  const { launch } = createLauncher(
    entry,
    {
      NODE_ENV: 'test',
      AUTH: undefined,
      PLATFORM_PUBLIC_KEY: trust.publicKey,
      PLATFORM_ISSUER: trust.issuer,
      PLATFORM_AUDIENCE: trust.audience,
      BROKEN: rule,
      ...environment,
    },
    { startMs: rule === '' ? startMs.good : startMs.broken },
  );
  const server = await serve(createSteps(trust));
  try {
    return await runContract(
      { url: server.url, profile, examples, signer, launch, runtime: goodRuntime },
      { selects: ({ id, onlyNamed }) => !onlyNamed || id === rule || rule === '' },
    );
  } finally {
    await server.stop();
  }
}

/** The ids of the rules that failed, in alphabetical order. */
export function failuresOf(results: readonly RuleResult[]): readonly string[] {
  return results
    .filter(({ status }) => status === 'fail')
    .map(({ id }) => id)
    .toSorted();
}
