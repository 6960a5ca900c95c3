import type { KeyObject } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import { onlyReads, type Problem, type Report } from 'market-mcp-contract/definition';
import { memoize } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { requireListed } from 'market-mcp-contract/program';
import { isRule, type LocateCauses, type OtherError } from 'market-mcp-contract/report';
import { loadClient, newPrivateKey, type Target } from 'market-mcp-contract/wire';
import { version } from '../plan/package-versions.ts';
import { readManifest } from '../project/manifest/manifest.ts';
import { presentProfile, profileDifferences } from '../project/manifest/project-profile.ts';
import { dotEnvSecrets } from '../project/read/dot-env.ts';
import { runtimeVersion } from '../project/read/edited-files.ts';
import { sampledTools, toolMethods, toolSources } from '../project/read/open.ts';
import { packageManagerOf } from '../system/detect.ts';
import { childEnded, childStarting } from '../system/processes.ts';
import type { Deployed } from './deployed.ts';
import { findLoggedCause, type LoggedCause } from './failed-call.ts';
import { causeOf } from './log-causes.ts';
import type { Incident, SourceAnswer, SourceFailure } from './log-events.ts';
import {
  type CalledExample,
  callExamples,
  calledLines,
  notStarted,
  projectFacts,
  shownLines,
} from './read-built-project.ts';
import { NotStarted, type Sources, startServer } from './start-server.ts';

/** A server to check, and how to release it. */
export interface ServerToCheck {
  readonly target: Target;
  /** Adds what its log says to a report; only for a project's server. */
  readonly locateCauses?: LocateCauses;
  /** The answers of its tools so far, with their sources; only for a project's server. */
  answers?(): readonly SourceAnswer[];
  /** The calls of its writing tools that were not checked, because they have no recording. */
  unrecorded?(): readonly string[];
  /** For live sources: the examples that were called for real before, and the tools that are not called for real. */
  readonly real?: { readonly called: readonly CalledExample[]; readonly withheld: readonly string[] };
  release(): Promise<void>;
}

/** How to hold a project. */
export interface HoldOptions {
  /** The platform to use instead of the project's own. */
  readonly platform?: PlatformProfile | undefined;
  /** Recordings by default. */
  readonly sources?: Sources | undefined;
  /** Tools that may change something whose examples are called for real, once each, before the server starts. */
  readonly call?: readonly string[];
  /** What to start instead of the built files. */
  readonly deployed?: Deployed | undefined;
  /** The key of the temporary platform, if it was generated early. */
  readonly privateKey?: Promise<KeyObject> | undefined;
}

/**
 * Begins what the check of a project needs and its packages do not change: the key of the temporary platform, and the loading of the
 * client.
 *
 * @returns the key for `openForCheck`
 */
export function prepareCheck(directory: string): Promise<KeyObject> {
  loadClient().catch(() => {}); // the check says why
  const key = newPrivateKey(presentProfile(readManifest(directory), isRule).token);
  key.catch(() => {}); // so does `openForCheck`
  return key;
}

/**
 * Starts the server of a built project on a free port, with a temporary platform key.
 *
 * @throws CommandError `NOT_STARTED` with the last lines of the server.
 * @throws CommandError `UNKNOWN_TOOL`, and `EXAMPLE_FAILED` if an example that was called for real ended otherwise than expected.
 */
export async function openForCheck(
  directory: string,
  { platform, sources = 'replay', call = [], deployed, privateKey: early }: HoldOptions = {},
): Promise<ServerToCheck> {
  const entry = join(directory, 'dist/src/main.js');
  if (!existsSync(entry)) {
    throw new CommandError(
      'NOT_STARTED',
      `the project is not built: ${entry} is missing`,
      `In ${directory} run: ${packageManagerOf(directory).run} build`,
    );
  }
  childStarting(); // a signal must shut this process down gracefully, and with it all that the launcher has started
  const evaluated = projectFacts(directory); // in another process, while this one reads the manifest
  evaluated.catch(() => {}); // where it is awaited, the error is thrown
  const manifest = readManifest(directory);
  const recorded = presentProfile(manifest, isRule);
  const profile = platform ?? recorded;
  const key = early ?? newPrivateKey(profile.token);
  // With recordings, nothing that the server gets depends on its tools.
  let startedServer =
    sources === 'replay'
      ? key.then((privateKey) => startServer(entry, profile, directory, { privateKey, deployed }))
      : undefined;
  for (const promise of [key, startedServer]) promise?.catch(() => {}); // who awaits them says why
  const callDirectory = sources === 'live' ? mkdtempSync(join(tmpdir(), 'market-mcp-answers-')) : undefined;
  const remove = () => {
    if (callDirectory !== undefined) rmSync(callDirectory, { recursive: true, force: true });
  };
  process.once('exit', remove); // also after a signal
  const release = async () => {
    await startedServer?.then(
      ({ owned }) => owned.instance().stop(),
      () => {},
    );
    remove();
    process.off('exit', remove);
    await childEnded(undefined);
  };
  try {
    const facts = await evaluated;
    requireListed(
      call.map((tool) => ({ flag: '--call', tool })),
      facts.tools.map(({ name }) => name),
    );
    const methods = toolMethods(directory);
    // A tool that only sends GET requests to its source, although it writes, writes in another way.
    const asksSource = (name: string) => methods.get(name)?.some((method) => method !== 'get') === true;
    const writing = new Map(
      facts.tools
        .filter((tool) => !onlyReads(tool))
        .map(({ name }) => [name, asksSource(name) ? ('replays' as const) : ('runs' as const)]),
    );
    const replayNames = call.filter((name) => writing.get(name) === 'replays');
    const calledExamples = await callReplayed(directory, replayNames, callDirectory);
    const withheld = [...writing]
      .filter(([name, answerSource]) => answerSource === 'replays' && !replayNames.includes(name))
      .map(([name]) => name);
    const liveTools = facts.tools.filter(({ name }) => !writing.has(name)).map(({ name }) => name);
    const sampled = sampledTools(directory); // while the server starts
    startedServer ??= startServer(entry, profile, directory, {
      sources,
      answersDirectory: callDirectory,
      liveTools,
      privateKey: await key,
      deployed,
    });
    const { instance, launch, signer, owned, answers } = await startedServer;
    const examples = new Map(facts.tools.map(({ name, examples = [] }) => [name, examples]));
    const unrecorded = new Set<string>();
    return {
      target: {
        url: instance.url,
        profile,
        examples,
        methods,
        writing,
        sampled,
        secrets: dotEnvSecrets(directory),
        ...(sources === 'live' && { mayCallLiveApis: true }),
        onUnrecorded: (tool, args) => unrecorded.add(`${tool} ${JSON.stringify(args)}`),
        signer,
        ...(launch && { launch }),
        owned,
        runtime: {
          version: runtimeVersion(directory, manifest),
          newest: version,
          differences: profileDifferences(facts.platform, recorded),
        },
      },
      answers,
      unrecorded: () => [...unrecorded].sort(),
      ...(callDirectory !== undefined && { real: { called: calledExamples, withheld } }),
      locateCauses: (report) => located(report, { directory, ...owned }),
      release,
    };
  } catch (error) {
    await release();
    if (!(error instanceof NotStarted)) throw error;
    const { lines } = error;
    throw deployed ? deployed.notStarted(lines.slice(-shownLines)) : notStarted(directory, lines);
  }
}

/**
 * Calls the examples of tools that the server replays later.
 * @throws CommandError `EXAMPLE_FAILED` if one ended otherwise than expected.
 */
async function callReplayed(
  directory: string,
  names: readonly string[],
  callDirectory: string | undefined,
): Promise<readonly CalledExample[]> {
  if (callDirectory === undefined || names.length === 0) return [];
  const examples = await callExamples(directory, names, callDirectory);
  if (examples.every(({ expect, outcome }) => expect === outcome)) return examples;
  throw new CommandError(
    'EXAMPLE_FAILED',
    'an example that was called for real did not end as expected',
    'Correct the tool or its example. Nothing else was checked.',
    { details: examples.flatMap(calledLines) },
  );
}

/** The known code of the checked server. */
interface ProjectCode {
  readonly directory: string;
  /** The errors in its code that the server has logged so far. */
  incidents(): readonly Incident[];
  /** The requests to APIs that have failed so far. */
  failures(): readonly SourceFailure[];
}

/** Codes for which a rule's own fix is more exact: what an API rejects may be the arguments, and a recording has its command. */
const fixedByRule = new Set(['SOURCE_REJECTED', 'SOURCE_NOT_RECORDED']);

/** The maximum number of errors that are reported in addition to the rules. */
const shownErrors = 10;

/**
 * Adds to each problem its cause, as the server logged it, and the place to change. Adds
 * the other errors, which belong to no problem.
 */
function located<R extends Pick<Report, 'rules' | 'rehearsal'>>(
  report: R,
  { directory, incidents: logged, failures }: ProjectCode,
): R & { readonly serverErrors: readonly OtherError[] } {
  const incidents = logged();
  const errors = { incidents, failures: failures() };
  const reported = new Set<string>();
  const sourcesIn = memoize(toolSources); // a report without problems needs none, and no parser
  const withCause = (problem: Problem, calledTool = ''): Problem => {
    const { tool = calledTool, code, incident, failed } = problem;
    const isCall = failed || incident !== undefined;
    const logged = isCall ? findLoggedCause({ tool, code, incident }, errors, directory) : undefined;
    const cause = problem.cause ?? logged?.cause;
    if (cause) reported.add(errorGroup(cause.message));
    const at = problem.at ?? cause?.at ?? sourcesIn(directory).get(tool);
    const fix = logged && causeFix(logged);
    return { ...problem, ...(cause && { cause }), ...(at !== undefined && { at }), ...(fix && { fix }) };
  };
  const rules = report.rules.map((rule) => ({
    ...rule,
    problems: rule.problems.map((problem) => withCause(problem)),
  }));
  const rehearsal = report.rehearsal?.map((step) => ({
    ...step,
    problems: step.problems.map((problem) => withCause(problem, step.tool)),
  }));
  return {
    ...report,
    rules,
    ...(rehearsal && { rehearsal }),
    serverErrors: otherErrors(incidents, directory).filter(
      ({ message }) => !reported.has(errorGroup(message)),
    ),
  };
}

/** Returns the fix that a logged cause has; undefined if the fix of the rule applies. */
function causeFix({ cause, failure, hint }: LoggedCause): string | undefined {
  if (failure) return fixedByRule.has(failure.code) ? undefined : hint;
  const at = cause?.at;
  return at && `Correct the code at ${at}: the call failed with this error.`;
}

function otherErrors(incidents: readonly Incident[], directory: string): readonly OtherError[] {
  const serverErrors = new Map<string, OtherError>();
  for (const { tool, detail } of incidents) {
    const cause = causeOf(detail, directory);
    const key = `${tool} ${errorGroup(cause.message)}`;
    const times = (serverErrors.get(key)?.times ?? 0) + 1;
    serverErrors.set(key, {
      ...(serverErrors.get(key) ?? { ...cause, ...(tool !== undefined && { tool }) }),
      times,
    });
  }
  return [...serverErrors.values()].slice(0, shownErrors);
}

/** Errors that differ only in values count as one. */
function errorGroup(message: string): string {
  return message.replaceAll(/"[^"]*"|'[^']*'|\d+/g, '…');
}
