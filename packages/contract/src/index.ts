import type { KeyObject } from 'node:crypto';
import { rules as catalogue } from './catalogue.ts';
import type { CheckReport } from './check/check-report.ts';
import { checkTarget } from './check/check-target.ts';
import { ruleNameErrors, selector } from './check/select.ts';
import { errorSentence } from './command/input-error.ts';
import type { Result } from './command/input-result.ts';
import { plainPaint } from './command/paint.ts';
import { maskUrl } from './command/url-secrets.ts';
import type { Level, RuleResult, RuleText, ToolExample } from './model.ts';
import { mcp, platforms } from './platforms/all.ts';
import type { PlatformProfile } from './platforms/profile.ts';
import { addressErrors } from './program/server.ts';
import { ruleLines } from './report/lines.ts';
import { inspectToolList as inspect } from './rules/inspect.ts';
import { createSigner } from './wire/signer.ts';

export type { CheckReport } from './check/check-report.ts';
export type { Level, Problem, RuleResult, RuleText } from './model.ts';
export type { PlatformProfile } from './platforms/profile.ts';

/** Every rule, in the order of a report: id, level, title, source and fix. */
export const rules: readonly RuleText[] = catalogue;

/** What `check` may be told. */
export interface CheckOptions {
  /** A built-in profile by its name, or a profile; `mcp` by default. */
  readonly platform?: string | PlatformProfile;
  /** Ids of rules or of groups of them, such as `gate`; all rules by default. */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** The lowest level of a rule whose failure counts: `must` by default. */
  readonly level?: Level;
  /** Tools that may be called; `*`: all without a sign of harm. By default those that declare that they only read. */
  readonly call?: readonly string[];
  /** Further calls with the expected outcome, by the name of the tool. The tools may be called. */
  readonly examples?: Readonly<Record<string, readonly ToolExample[]>>;
  /** The private key whose public key the server trusts: without it, rules about paid calls are not run (C§5.1). */
  readonly privateKey?: KeyObject;
  /** Issuer and audience of the tokens that are signed; by default the profile's and the URL. */
  readonly issuer?: string;
  readonly audience?: string;
  /** Generated calls for each tool that may be called: 12 by default, none for a server that is not on this machine. */
  readonly explore?: number;
  /** Chooses the generated calls: the same seed, the same calls. 1 by default. */
  readonly seed?: number;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Time limit of one request; by default the limit of the profile plus ten seconds. Milliseconds. */
  readonly timeoutMs?: number;
  /** Time limit of the whole check, by default 15 minutes. Milliseconds. */
  readonly deadlineMs?: number;
  /** Ends the check: it rejects with the reason. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the contract on the MCP server at a URL, in any language.
 *
 * @param url the MCP endpoint, such as `https://tools.example.com/mcp` (C§1.4)
 * @returns the verdict on each rule; `ok` is false if a rule that counts failed or could not be checked for lack of an answer
 * @throws TypeError for an address that is no HTTP URL. @throws RangeError for an unknown platform, rule or group of rules.
 * @throws CommandError `UNREACHABLE` if nothing answers
 */
export async function check(url: string, options: CheckOptions = {}): Promise<CheckReport> {
  const { platform = mcp, only = [], skip = [], level = 'must', call = [], examples = {} } = options;
  const {
    privateKey,
    issuer,
    audience = url,
    headers,
    explore,
    seed,
    timeoutMs,
    deadlineMs,
    signal,
  } = options;
  const [addressError] = addressErrors(url);
  if (addressError)
    throw new TypeError(`url ${JSON.stringify(maskUrl(url))} ${addressError.message}. ${addressError.hint}`);
  const profile = profileOf(platform);
  const unknown = [
    ...only.flatMap((name) => ruleNameErrors('only', name)),
    ...skip.flatMap((name) => ruleNameErrors('skip', name)),
  ];
  const selects = valueOrThrow(
    unknown.length > 0 ? { ok: false, errors: unknown } : selector({ only, skip }),
  );
  const signer = privateKey && (await createSigner(profile.token, audience, { issuer, privateKey }));
  const { report } = await checkTarget(
    { target: { url, profile, ...(headers && { headers }), ...(signer && { signer }) } },
    {
      demands: { level, requireAll: false },
      selects,
      callPolicy: { named: call },
      examples: new Map(Object.entries(examples)),
      explore,
      seed,
      timeoutMs,
      deadlineMs,
      ...(signal && { signal }),
    },
  );
  return report;
}

/**
 * The verdict of the rules that need no server on tool definitions, the elements of a `tools/list` result (C§2.1).
 *
 * @param definitions any JSON: what is not a tool fails `tool.readable`
 * @param platform a built-in profile by its name, or a profile; `mcp` by default
 * @throws RangeError for an unknown platform
 */
export function inspectTools(
  definitions: readonly unknown[],
  platform: string | PlatformProfile = mcp,
): readonly RuleResult[] {
  return inspect(definitions, profileOf(platform));
}

/**
 * A matcher for vitest and jest: `expect.extend({ toMeetTheContract })`, then `await expect(url).toMeetTheContract(options)`.
 * Its message lists each rule that failed, with the fix.
 */
export async function toMeetTheContract(
  url: string,
  options?: CheckOptions,
): Promise<{ readonly pass: boolean; readonly message: () => string }> {
  const report = await check(url, options);
  const failed = report.rules.filter(({ status }) => status === 'fail');
  const counted = failed.filter(({ level }) => level === 'must' || report.demands.level === 'should');
  const explain = (rule: string) => `npx market-mcp-contract explain ${rule}`;
  const message = () =>
    report.ok
      ? `expected ${maskUrl(url)} to break a rule of the contract`
      : [
          `expected ${maskUrl(url)} to meet the contract, but ${counted.length} of ${report.rules.length} rules failed`,
          ...counted.flatMap((rule) => ruleLines(rule, plainPaint, explain(rule.id))),
        ].join('\n');
  return { pass: report.ok, message };
}

function profileOf(platform: string | PlatformProfile): PlatformProfile {
  if (typeof platform !== 'string') return platform;
  const profile = platforms.find(({ name }) => name === platform);
  if (profile) return profile;
  const names = platforms.map(({ name }) => name).join(', ');
  throw new RangeError(`platform ${JSON.stringify(platform)} is unknown. The built-in ones are ${names}.`);
}

/** @throws RangeError with every error */
function valueOrThrow<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new RangeError(result.errors.map((error) => `${errorSentence(error)} ${error.hint}`).join('\n'));
}
