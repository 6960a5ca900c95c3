import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import type { Report, RuleResult } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import type { Launch, Runtime } from '../../packages/contract/src/target.ts';
import { createLauncher } from '../../src/check/launch.ts';
import { goodTools } from './good-tools.ts';
import { serving, signer, trust } from './trust.ts';
import { Clock, type Variant } from './variant.ts';

export const examples = new Map(goodTools.map(({ definition, examples }) => [definition.name, examples]));

const goodRuntime: Runtime = { version: '1.0.0', newest: '1.0.0', differences: [] };

/** This rule waits for a second, so it judges only servers with an error in their authentication, and the good one. */
const waiting = 'gate.expired-after-success';

/** Every server has this time to answer, also on a busy machine. */
const timeoutMs = 60_000;

/** Runs the contract on a server in this process; rules about its process are not judged. */
export function checkServer(variant: Variant, rule = ''): Promise<Report> {
  const { profile = (same) => same, url: changed = (same) => same, clock = new Clock() } = variant;
  const runtime = { ...goodRuntime, ...variant.runtime };
  return serving(variant, (url) =>
    runContract(
      {
        ...variant.target,
        url: changed(url),
        profile: profile(context),
        examples,
        signer,
        runtime,
        responseClock: clock.now,
        wait: async (ms) => clock.advance(ms),
        timeoutMs,
      },
      { selects: ({ id, onlyNamed }) => !onlyNamed && (id !== waiting || /^gate|^$/.test(rule)) },
    ),
  );
}

/** The good server as a program that can be started any number of times. */
export interface Program {
  /** The file that Node runs. */
  readonly entry: string;
  /** Runs the contract on it; `rule` is the one that it breaks. */
  check(variant?: Variant, rule?: string): Promise<Report>;
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
    check: (variant = {}, rule = '') => checkProgram(entry, rule, variant),
    remove: () => rm(directory, { recursive: true }),
  };
}

/** A server has this time to start, also on a busy machine. */
const startMs = 60_000;

/** The environment of a program that trusts the key of the tests. */
export const trusting = {
  NODE_ENV: 'test',
  PLATFORM_PUBLIC_KEY: trust.publicKey,
  PLATFORM_ISSUER: trust.issuer,
  PLATFORM_AUDIENCE: trust.audience,
};

/** A start that never answers fails after this time. The verdict is the same if the program has not started by then. */
const silentStartMs = 1_000;

/** The rules that start the program. All others ask the server in this process. */
const startRules = /^process\.|^health\.ready-/;

function checkProgram(entry: string, rule: string, variant: Variant): Promise<Report> {
  const { profile = (same) => same, environment, neverAnswers, clock = new Clock() } = variant;
  const settings = { ...trusting, AUTH: undefined, BROKEN: rule, ...environment };
  const launchProgram = createLauncher(entry, settings, { startMs });
  const launchSilent = createLauncher(entry, settings, { startMs: silentStartMs });
  const launch: Launch = (variables) =>
    neverAnswers?.(variables) ? launchSilent(variables) : launchProgram(variables);
  return serving({}, (url) =>
    runContract(
      {
        ...{ url, profile: profile(context), examples, signer, launch, runtime: goodRuntime },
        responseClock: clock.now,
        // The good one answers, however late.
        ...(rule === '' && { timeoutMs: 60_000 }),
      },
      {
        selects: ({ id, onlyNamed }) => rule === '' || id === rule || (!onlyNamed && startRules.test(id)),
      },
    ),
  );
}

/** The ids of the rules that failed, and of the failed cases of merged rules, in alphabetical order. */
export function failuresOf(results: readonly RuleResult[]): readonly string[] {
  const ids = results
    .filter(({ status }) => status === 'fail')
    .flatMap(({ id, problems }) => [...new Set(problems.map((problem) => problem.case ?? id))]);
  return ids.toSorted();
}
