import {
  type ExitCode,
  exitCodes,
  numberIn,
  type Output,
  pagePortIn,
  singleLine,
  untilSignal,
} from 'market-mcp-contract/command';
import { isObject, type JsonObject } from 'market-mcp-contract/json';
import { develop, handOverInspector, type OutputChunk } from '../../dev/develop.ts';
import { localServer } from '../../dev/local-server.ts';
import { publisherOf } from '../../dev/published-state.ts';
import { walkableJsonIn } from '../../marketplace/core/answer-values.ts';
import { causeIn, type FailedAnswer } from '../../marketplace/core/cause.ts';
import type { Marketplace } from '../../marketplace/core/marketplace.ts';
import type { CallCause } from '../../marketplace/core/marketplace-model.ts';
import { linkOf } from '../../marketplace/core/page-access.ts';
import type { LogLine } from '../../marketplace/core/traffic.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import { openProject } from '../../project/read/open.ts';
import { causeLines } from '../marketplace/marketplace-lines.ts';

/** The flags of `market-mcp dev` as given. */
export interface DevFlags {
  /** False if `--no-marketplace` was given. */
  readonly marketplace: boolean;
  readonly port?: string;
  readonly pagePort?: string;
  readonly inspect?: string | true;
  readonly rawLog?: true;
}

/** `market-mcp dev`: builds and starts the server of the project after each change, beside a local marketplace. */
export async function dev(output: Output, flags: DevFlags): Promise<ExitCode> {
  const inspectorArguments = inspectArguments(flags.inspect);
  const inspectorPort = await handOverInspector();
  const nodeArguments =
    inspectorArguments.length > 0 || !inspectorPort
      ? inspectorArguments
      : [`--${inspectorPort.option}=${inspectorPort.host}:${inspectorPort.port}`];
  if (inspectorArguments.length === 0 && inspectorPort) {
    output.note(
      `NODE_OPTIONS requests a debugger: attach it to the server at ${inspectorPort.host}:${inspectorPort.port}`,
    );
  }
  const pagePort = pagePortIn(flags.pagePort);
  const port = numberIn('--port', flags.port, [1, 65_535], 'a port from 1 to 65535', 'Write --port 3000.');
  if (port !== undefined) process.env.PORT = String(port); // it precedes .env
  const directory = findProject(process.cwd());
  const say = (text: string) => output.note(text);
  const hidesLog = process.stdout.isTTY && flags.rawLog === undefined;
  const showLog = createCallLog(directory, output);
  const onLog = (chunk: OutputChunk, marketplace?: Marketplace) =>
    void (hidesLog && chunk.isLog && showLog(chunk, marketplace));
  const options = { nodeArguments, say, hidesLog };
  if (!flags.marketplace) {
    const { profile } = await openProject(directory);
    const server = () => localServer(directory, profile.token);
    const onState = publisherOf(directory);
    await untilSignal((until) =>
      develop({ ...options, directory, server, onWritten: onLog, onState, until }),
    );
    return exitCodes.ok;
  }
  const { readMarketplaceContext } = await import('../../marketplace/marketplace-context.ts');
  const { runLocalMarketplace } = await import('../../marketplace/run-local.ts');
  const context = await readMarketplaceContext({}, true);
  return runLocalMarketplace(
    context,
    { ...options, port: pagePort, startsServer: true, onWritten: onLog },
    async (local, untilEnded) => {
      output.line(`${output.style('bold', 'Marketplace')}  ${linkOf(local)}`);
      output.line(`${output.style('bold', 'Server')}       ${context.endpoint}`);
      await untilEnded();
      return exitCodes.ok;
    },
  );
}

const inspectPort = '9229';

/** The debugger is reachable from this machine only. */
function inspectArguments(inspect: string | true | undefined): readonly string[] {
  const text = inspect === true ? inspectPort : inspect;
  const hint = `Write --inspect ${inspectPort}.`;
  const port = numberIn('--inspect', text, [1, 65_535], 'a port from 1 to 65535', hint);
  if (port === undefined) return [];
  return [`--inspect=127.0.0.1:${text}`];
}

/** The log lines of one call so far. */
interface Running {
  readonly lines: readonly LogLine[];
  /** The code of its last failed request to an API. */
  readonly code: string | null;
}

const nothing: Running = { lines: [], code: null };

function withLine(before: Running = nothing, line: LogLine, event: JsonObject): Running {
  const isFailedRequest = failureKinds.has(String(event.event));
  const code = isFailedRequest ? textOrNull(event.code) : before.code;
  return { lines: [...before.lines, line], code };
}

/** The failure that the last line of a call reports; null if it reports none. */
function failureOf(event: JsonObject, call: Running, id: string | null): FailedAnswer | null {
  const kind = String(event.event);
  const code = textOrNull(event.code) ?? call.code;
  const isFailure = code !== null || kind === 'incident' || failureKinds.has(kind);
  if (isFailure) return { code, message: null, incident: id ?? undefined };
  return null;
}

/** Calls whose lines wait for the last one, which never comes if the log drops it. */
const maxWaiting = 1_000;

/**
 * Shows the log of a server in development to a person: a line for each call, and beneath the line of a failed call its cause, as
 * `market-mcp call` words it.
 *
 * @param directory the project
 * @returns takes a line of the log; the marketplace knows the answers to the calls that it has sent
 */
export function createCallLog(directory: string, output: Output) {
  const waiting = new Map<string, Running>();

  function keepForCall(id: string, call: Running): void {
    waiting.set(id, call);
    const [oldest] = waiting.keys();
    if (waiting.size > maxWaiting && oldest !== undefined) waiting.delete(oldest);
  }

  return async (line: OutputChunk, marketplace?: Marketplace): Promise<void> => {
    const [event] = walkableJsonIn(line.text);
    if (!isObject(event)) return output.line(line.text.trimEnd());
    if (silentKinds.has(String(event.event))) return;
    const id = textOrNull(event.request) ?? textOrNull(event.id);
    const call = withLine(id === null ? undefined : waiting.get(id), line, event);
    const isOpen = event.event !== 'call' && typeof event.tool === 'string';
    if (id !== null && isOpen) return keepForCall(id, call);
    if (id !== null) waiting.delete(id);
    const failure = failureOf(event, call, id);
    await showEvent(event, failure, call, line.exchange, marketplace);
  };

  async function showEvent(
    event: JsonObject,
    failure: FailedAnswer | null,
    call: Running,
    exchange: number | null,
    marketplace: Marketplace | undefined,
  ): Promise<void> {
    const hasCode = failure !== null && failure.code !== null;
    const cause = hasCode && exchange !== null ? marketplace?.causeOf(exchange) : null;
    const logged = failure && causeIn(failure, call.lines, directory, undefined);
    const title = event.event === 'call' ? callTitle(event) : otherTitle(event, logged);
    show(title, (await cause) ?? logged);
  }

  function callTitle({ time, tool, outcome, code, ms }: JsonObject): string {
    const name = output.style('bold', singleLine(String(tool)));
    const ending = code === undefined ? String(outcome) : `failed ${code}`;
    const endingText = output.style(code === undefined ? 'green' : 'red', singleLine(ending));
    return `${clockTime(time)}  ${name}  ${endingText}  ${output.style('dim', `${Math.round(Number(ms))} ms`)}`;
  }

  function otherTitle({ time, event, ...members }: JsonObject, cause: CallCause | null): string {
    const reasonText = textOrNull(members.reason) ?? textOrNull(members.text) ?? textOrNull(members.detail);
    const memberTexts = Object.entries(members).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
    const text = cause ? '' : `  ${reasonText ?? memberTexts.join(', ')}`;
    return singleLine(`${clockTime(time)}  ${event}${text}`);
  }

  function show(title: string, cause: CallCause | null): void {
    output.line(title);
    // The terminal already has what the author's code writes.
    for (const text of cause ? causeLines({ ...cause, lines: [] }, output) : []) output.line(text);
  }
}

/** Events with the code of a failure and its cause. */
const failureKinds = new Set(['source', 'failure']);

/** At a terminal, the server prints its address, and dev when and why it stops. */
const silentKinds = new Set(['listening', 'stopping', 'stopped']);

function textOrNull(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return null;
}

/** `14:03:59`, in the time zone of the machine. */
function clockTime(time: unknown): string {
  return new Date(String(time)).toTimeString().slice(0, 8);
}
