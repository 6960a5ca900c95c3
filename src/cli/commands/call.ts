import {
  type ExitCode,
  exitCodes,
  type Output,
  pass,
  type Result,
  reject,
  unknownTool,
  unwrap,
} from 'market-mcp-contract/command';
import { isObject, type Json, readJson } from 'market-mcp-contract/json';
import { stateLines } from '../../dev/state.ts';
import { hasNoMismatch } from '../../marketplace/core/call-verdict.ts';
import type { CallReport } from '../../marketplace/core/caller.ts';
import { redactValue } from '../../marketplace/core/redact-traffic.ts';
import { requestJson } from '../../marketplace/running-marketplace.ts';
import type { CallFlags } from '../command-flags.ts';
import { runOnFreePort, withMarketplace } from '../marketplace/connect.ts';
import { callLines } from '../marketplace/marketplace-lines.ts';

/**
 * `market-mcp call <tool> [arguments]`: signs a token, opens a session, calls the tool, and checks the answer.
 *
 * @returns 3 if no answer came; 1 if the call failed, does not match its schema, or did not end as expected.
 */
export async function runCallCommand(
  tool: string,
  argumentsText: string | undefined,
  output: Output,
  flags: CallFlags,
): Promise<ExitCode> {
  const args = unwrap(argumentsIn(argumentsText));
  const callOnce = () => callOn(flags, output, tool, args);
  if (flags.endpoint === undefined) return runOnFreePort(callOnce);
  return callOnce();
}

function callOn(flags: CallFlags, output: Output, tool: string, args: Json | undefined): Promise<ExitCode> {
  return withMarketplace(flags, output, async (market, { endpoint }, state) => {
    const { tools, arguments: sample } = await requestJson<Offer>(
      market,
      `/try.json?tool=${encodeURIComponent(tool)}`,
    );
    const names = tools.map(({ name }) => name);
    if (endpoint !== undefined && names.length > 0 && !names.includes(tool))
      throw unknownTool('the server', tool, names);
    const report = await requestJson<CallReport>(market, '/try.json', {
      tool,
      arguments: args ?? sample,
      deliberate: flags.as ?? '',
      ...(endpoint !== undefined && { endpoint }),
    });
    const objection = objectionTo(report, flags.expect);
    for (const line of callLines({ report, objection, output })) output.line(line);
    if (state?.kind === 'old-build') output.note(`${state.message} ${stateLines(state).join(' ')}`);
    const verdict = { ok: objection === undefined, objection: objection ?? null, state };
    const exitCode = output.result({ ...report, arguments: redactValue(report.arguments), ...verdict });
    if (report.verdict.outcome === 'no-answer' && objection !== undefined) return exitCodes.notStarted;
    return exitCode;
  });
}

/** The tools of the server, and initial values of the form for one of them. */
interface Offer {
  readonly tools: readonly { readonly name: string }[];
  readonly arguments: Json;
}

function argumentsIn(text: string | undefined): Result<Json | undefined> {
  if (text === undefined) return pass(undefined);
  const reading = readJson(text, { exact: true });
  if (reading.ok && isObject(reading.value)) return pass(reading.value);
  if (reading.ok) {
    return reject('[arguments]', reading.value, 'is not a JSON object', `Write '{"name": "value"}'.`);
  }
  if (reading.kind !== 'syntax')
    return reject('[arguments]', text, reading.flaw, 'Write such a number in quotes.');
  const hint = `Write JSON in single quotes: '{"name": "value"}'.`;
  return reject('[arguments]', text, `is not JSON (${reading.flaw})`, hint);
}

/**
 * The reason why a call does not count as a success; undefined if it does. A failure that the tool reports is no success,
 * unless it is expected.
 */
export function objectionTo(
  { endpoint, status, verdict, error, expected }: CallReport,
  expectation: 'found' | 'empty' | 'fail' | undefined,
): string | undefined {
  if (expected) return expected.met ? undefined : `expected ${expected.what}, got ${expected.actual}`;
  const { outcome } = verdict;
  switch (outcome) {
    case 'no-answer':
      return `${endpoint} did not answer: ${error}`;
    case 'refused':
      return `the server refused the token (HTTP ${status})`;
    case 'error':
      return 'the server answered with a JSON-RPC error';
    case 'http-error':
      return `the server answered with HTTP ${status} and no JSON-RPC result`;
    case 'empty-unsigned':
      return 'the result has no data and does not say so: expected searchExhausted or noResultsReason';
  }
  if (!hasNoMismatch(verdict)) return 'the result does not match the outputSchema';
  if (expectation !== undefined && outcome !== expectation)
    return `expected the outcome ${expectation}, got ${outcome}`;
  if (outcome === 'fail' && expectation === undefined) {
    return 'the tool reported a failure (if a failure is correct here, add --expect fail)';
  }
  return undefined;
}
