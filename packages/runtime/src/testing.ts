import { AssertionError } from 'node:assert';
import { findAuthorLocation } from './code-location.ts';
import { logToStderr } from './process.ts';
import type { CallResult } from './server/call-result.ts';
import type { JsonObject, Tool, ToolExample } from './server/define-tool.ts';
import { createRequestId, type FailureLine, type Incident, type SourceLine } from './server/log.ts';
import { loadPatterns } from './server/pattern-matcher.ts';
import { runCall } from './server/run-call.ts';
import { compileTool } from './server/schema.ts';

export { requireVariables } from './process.ts';
export type { CallResult } from './server/call-result.ts';
export type { Incident } from './server/log.ts';

type LoggedLine = Incident | FailureLine | SourceLine;

export interface CallOptions {
  /** Cancels the call, as a caller that disconnects does. */
  readonly signal?: AbortSignal;
  /** Deadline in milliseconds; no deadline by default. */
  readonly timeoutMs?: number;
  /** Receives errors of the tool; by default they are written to stderr. */
  readonly report?: (incident: Incident) => void;
}

/**
 * Calls a tool as the server does, for unit tests (C§5.5). Invalid arguments and errors of the tool give a result with
 * `isError`.
 *
 * @throws Error if a schema of the tool does not compile.
 */
export async function callTool(
  tool: Tool,
  args: JsonObject = {},
  { signal, timeoutMs, report = printed }: CallOptions = {},
): Promise<CallResult> {
  const onDisconnect = (listener: () => void) => {
    if (signal?.aborted) listener();
    signal?.addEventListener('abort', listener);
    return () => signal?.removeEventListener('abort', listener);
  };
  await loadPatterns([tool]);
  const sentArguments: unknown = JSON.parse(JSON.stringify(args));
  const lines: LoggedLine[] = [];
  const { result, code } = await runCall(compileTool(tool), sentArguments, {
    requestId: createRequestId(),
    onDisconnect,
    timeoutMs,
    keepsFoundStack: true,
    onIncident(incident) {
      lines.push(incident);
      report(incident);
    },
    onFailure(line) {
      lines.push(line);
      logToStderr('failure', line);
    },
    onSource: (line) => lines.push(line),
  });
  const title = `${tool.name} ${JSON.stringify(args)}`;
  calls.set(result, { title, cause: lines.findLast((line) => line.code === code) });
  return result;
}

function printed({ id, tool, detail }: Incident): void {
  console.error(`incident ${id} of ${tool}: ${detail}`);
}

/** The calls of this process, for what their results do not say. */
const calls = new WeakMap<CallResult, { readonly title: string; readonly cause?: LoggedLine | undefined }>();

/**
 * Expects that a call has ended as its example says.
 *
 * @param result of `callTool`
 * @throws AssertionError that names the failure and its cause
 */
export function assertOutcome(result: CallResult, expected: ToolExample['expect']): void {
  const { isError, structuredContent = {}, content } = result;
  const success = structuredContent.searchExhausted ? 'empty' : 'found';
  const actual = isError ? 'fail' : success;
  if (actual === expected) return;
  const { title, cause } = calls.get(result) ?? { title: 'the call' };
  const { error, message, noResultsReason } = structuredContent;
  const source: Partial<SourceLine> = { ...cause };
  const { method, path, host, status } = source;
  const [problem = ''] = cause?.detail.split(/\n\s+at /) ?? [];
  const at = source.at ?? findAuthorLocation(cause?.detail);
  const rows = {
    code: error,
    message: message ?? noResultsReason ?? content[0].text.slice(0, 500),
    source:
      method &&
      [`${method.toUpperCase()} ${path}`, host && ` of ${host}`, status && `: HTTP ${status}`].join(''),
    cause: problem,
    at,
    fix: source.hint ?? (at && `Correct ${at}.`),
  };
  const lines = Object.entries(rows)
    .filter(([, value]) => value)
    .map(([name, value]) => `  ${name.padEnd(8)} ${value}`);
  throw new AssertionError({
    message: [`${title}: expected ${expected}, got ${actual}`, ...lines].join('\n'),
    actual,
    expected,
    operator: 'assertOutcome',
    stackStartFn: assertOutcome,
  });
}
