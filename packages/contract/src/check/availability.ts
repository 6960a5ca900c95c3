import { createPublicKey, type KeyObject } from 'node:crypto';
import { hasUrlSecret, maskJson, urlMasker } from '../command/url-secrets.ts';
import { onlyReads } from '../definition/effect.ts';
import { isObject, messageOf, parseJsonText } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { resultProblems, unauthorizedProblems } from '../rules/answer-problems.ts';
import type { Target } from '../target.ts';
import { isLoopback } from '../wire/address.ts';
import { certificateOf } from '../wire/certificate.ts';
import { toolListProblems } from '../wire/fetch-tool-list.ts';
import { createHttp } from '../wire/http.ts';
import { NotRun } from '../wire/not-run.ts';
import { noSuchTool, Probe } from '../wire/probe.ts';
import { NoAnswer } from '../wire/receive.ts';
import { leastHarmfulFirst } from '../wire/safety.ts';
import { refusedArguments } from '../wire/tool-cases.ts';
import type { Drift } from './check-report.ts';
import { driftFrom, type PreviousListing } from './check-target.ts';

/** One property of a server in use. */
export interface Look {
  readonly id: 'answer' | 'discovery' | 'gate' | 'list' | 'certificate' | 'keys';
  readonly title: string;
  readonly status: 'pass' | 'fail' | 'not-run';
  /** What was seen, in words. */
  readonly says: string;
  /** What to do; absent unless it failed. */
  readonly fix?: string;
}

/** The daily look at a server. docs/check-reference.md documents the JSON form. */
export interface AvailabilityReport {
  readonly ok: boolean;
  readonly target: string;
  readonly platform: string;
  /** Whether anything answered at the URL. */
  readonly answered: boolean;
  readonly looks: readonly Look[];
  /** Absent if no earlier list is known, or the server sent none. */
  readonly drift?: Drift;
}

/** A certificate is renewed a month before its end, at the latest. */
const leastDays = 14;
const dayMs = 24 * 60 * 60 * 1000;

type LookResult = Pick<Look, 'status' | 'says' | 'fix'>;

/**
 * Looks at a server in use as the marketplace does every day, and at what lets paid calls fail later: about ten requests, none of
 * which runs a tool. The report contains no secret of the URL.
 *
 * @param earlier the tool list that the marketplace last read
 */
export async function lookAtServer(
  target: Target,
  earlier: PreviousListing | undefined,
): Promise<AvailabilityReport> {
  const probe = new Probe(target);
  let drift: Drift | undefined;
  const list = async (): Promise<LookResult> => {
    if (!earlier)
      return skipCheck('no earlier list is known: give --against, or run market-mcp list --mark-listed');
    drift = driftFrom(earlier, (await probe.toolList()).tools);
    if (!drift.refreshNeeded) return passCheck(`as in ${drift.against}`);
    const words = `${drift.changes.length} differences from ${drift.against}`;
    return failCheck(words, 'Trigger "Refresh Skills", then record the list: market-mcp list --mark-listed.');
  };
  const looksById = {
    answer: ['the first answer', () => firstAnswer(probe)],
    discovery: ['discovery without a token', () => discovery(probe)],
    gate: ['an unpaid call is refused', () => gate(probe)],
    list: ['the tools that are registered', list],
    certificate: ['the certificate', () => certificate(probe)],
    keys: ["the platform's keys", () => keys(probe)],
  } as const satisfies { readonly [id in Look['id']]: readonly [string, () => Promise<LookResult>] };
  const looks: Look[] = [];
  try {
    for (const [id, [title, look]] of Object.entries(looksById)) {
      looks.push({ id: id as Look['id'], title, ...(await look().catch(resultOfError)) });
    }
  } finally {
    await probe.close();
  }
  const report = {
    ok: looks.every(({ status }) => status !== 'fail'),
    target: target.url,
    platform: target.profile.name,
    answered: await probe.firstInitialize().then(Boolean, () => false),
    looks,
    ...(drift && { drift }),
  };
  if (hasUrlSecret(target.url)) return maskJson(report, urlMasker([target.url]));
  return report;
}

function passCheck(says: string): LookResult {
  return { status: 'pass', says };
}

function skipCheck(says: string): LookResult {
  return { status: 'not-run', says };
}

function failCheck(says: string, fix: string): LookResult {
  return { status: 'fail', says, fix };
}

/** A look that got no answer has failed; one that lacks the answer to an earlier look was not made. */
function resultOfError(error: unknown): LookResult {
  if (error instanceof NotRun) return skipCheck(error.message);
  if (error instanceof NoAnswer) return failCheck(error.message, 'See whether the server runs, and its log.');
  throw error;
}

function statusOfProblems(problems: readonly Problem[], okText: string, fix: string): LookResult {
  const [problem] = problems;
  if (problem) return failCheck(`expected ${problem.expected}, got ${problem.actual}`, fix);
  return passCheck(okText);
}

/** The time of the first answer counts from the name of the host to the last byte, including a cold start. */
async function firstAnswer(probe: Probe): Promise<LookResult> {
  const { initializeMs } = probe.profile.limits;
  const answer = await probe.firstInitialize();
  const words = `initialize answered in ${Math.round(answer.http.ms)} ms`;
  if (answer.http.ms > initializeMs)
    return failCheck(
      `${words}, allowed are ${initializeMs}`,
      'Keep an instance running, or do slow work at its start.',
    );
  return statusOfProblems(
    resultProblems(answer),
    words,
    'Answer initialize with HTTP 200 and a JSON-RPC result.',
  );
}

async function discovery(probe: Probe): Promise<LookResult> {
  const fix = 'Let initialize and the lists pass without authentication: "Refresh Skills" sends no token.';
  const problems = [...toolListProblems(await probe.fetchedToolList())];
  for (const method of ['resources/list', 'prompts/list']) {
    if (problems.length === 0) problems.push(...resultProblems(await probe.rpc(method)));
  }
  const count = problems.length === 0 ? (await probe.toolList()).tools.length : 0;
  if (problems.length === 0 && count === 0)
    return failCheck('tools/list is empty', 'Serve at least one tool.');
  return statusOfProblems(problems, `open, ${count} tools`, fix);
}

/** Asks a tool that only reads, with arguments that its inputSchema refuses, so that an open one does nothing; else no real tool. */
async function gate(probe: Probe): Promise<LookResult> {
  const tools = (await probe.fetchedToolList()).fault
    ? []
    : leastHarmfulFirst(await probe.tools()).filter(onlyReads);
  const calls = tools.flatMap((tool) => {
    const args = refusedArguments(tool);
    if (args) return [{ name: String(tool.name), arguments: args }];
    return [];
  });
  const call: JsonObject = calls[0] ?? { name: noSuchTool, arguments: {} };
  const { http } = await probe.rpc('tools/call', call);
  const fix = 'Authenticate tools/call before anything that depends on the tool or its arguments.';
  return statusOfProblems(
    unauthorizedProblems(http, probe.profile),
    `${call.name}: HTTP ${http.status}`,
    fix,
  );
}

async function certificate(probe: Probe): Promise<LookResult> {
  const { url } = probe;
  if (url.protocol !== 'https:') {
    if (isLoopback(url.hostname)) return skipCheck('plain HTTP, on this machine');
    return failCheck('plain HTTP', 'Serve https: the platform calls nothing else.');
  }
  const { validTo, refusal } = await certificateOf(url, probe.timeoutMs()).catch((error: unknown) => {
    throw new NoAnswer(messageOf(error));
  });
  const fix = 'Renew the certificate, and see why it was not renewed by itself.';
  if (refusal !== undefined) return failCheck(refusal, fix);
  if (validTo === undefined) return failCheck('it has no date', fix);
  const days = Math.floor((validTo.getTime() - Date.now()) / dayMs);
  const words = `valid until ${validTo.toISOString().slice(0, 10)}, ${days} days`;
  if (days < leastDays) return failCheck(words, fix);
  return passCheck(words);
}

/** Whether a server that starts now gets the keys with which it verifies tokens. */
async function keys(probe: Probe): Promise<LookResult> {
  const { jwksUrl, fallbackKey } = probe.profile.token;
  if (jwksUrl === null) return skipCheck('the platform publishes no key set');
  const found = await keySet(new URL(jwksUrl), probe);
  if (typeof found === 'string') {
    if (fallbackKey)
      return passCheck(`${jwksUrl}: ${found}; servers verify with the key ${fallbackKey.source}`);
    return failCheck(`${jwksUrl}: ${found}`, 'No server can verify tokens. Ask the platform.');
  }
  const fallbackPublicKey = fallbackKey && createPublicKey(fallbackKey.pem);
  if (!fallbackPublicKey || found.some((key) => key.equals(fallbackPublicKey)))
    return passCheck(`${jwksUrl}: ${found.length} keys`);
  return failCheck(
    `${jwksUrl}: the keys are not the one that the profile ${probe.profile.name} knows`,
    'Upgrade the project, and restart the server: with the old key alone it refuses every paid call.',
  );
}

/** The public keys of a key set, or why there are none. */
async function keySet(url: URL, probe: Probe): Promise<readonly KeyObject[] | string> {
  const http = createHttp();
  try {
    const request = { method: 'GET', url, headers: {}, timeoutMs: probe.timeoutMs() };
    const { status, body } = await http.exchange(request);
    if (status !== 200) return `HTTP ${status}`;
    const [set] = parseJsonText(body);
    const listed = isObject(set) && Array.isArray(set.keys) ? set.keys : [];
    const found = listed.flatMap(publicKey);
    return found.length > 0 ? found : 'contains no public key';
  } catch (error) {
    return messageOf(error);
  } finally {
    http.close();
  }
}

function publicKey(key: Json): readonly KeyObject[] {
  try {
    if (!isObject(key)) return [];
    const [certificate] = Array.isArray(key.x5c) ? key.x5c : [];
    return [
      certificate === undefined
        ? createPublicKey({ key, format: 'jwk' })
        : createPublicKey(`-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`),
    ];
  } catch {
    return [];
  }
}
