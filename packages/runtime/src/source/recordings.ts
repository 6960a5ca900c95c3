// Recordings of responses in test/recordings/: replayed and written.

import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isProduction, projectDirectory } from '../process.ts';
import type { ReservedMemory } from '../server/call-memory.ts';
import { parseLiterally, writeLiterally } from '../server/exact-numbers.ts';
import { runningTool } from './current-call.ts';
import { attachExplanation } from './failure-log.ts';
import type { PagingHeaders } from './pages.ts';
import { redactorOf } from './redact.ts';
import { SourceError } from './source-errors.ts';

/** A request as the code of the tool writes it, without address, keys and headers of the source. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly params?: object;
  readonly query?: object;
  readonly headers?: object;
  readonly json?: unknown;
  readonly form?: object;
  readonly multipart?: object;
  readonly text?: unknown;
  /** A file in base64. */
  readonly binary?: unknown;
}

/** One request and its answer. */
export interface Recording {
  readonly request: RecordedRequest;
  readonly status: number;
  /** Only the paging headers (`pagingHeaders` in pages.ts). */
  readonly headers?: PagingHeaders;
  /** The parsed answer; absent if there was none. */
  readonly body?: unknown;
  /** `recorded`: a real exchange. `document`: an example of the API's own document. */
  readonly from: 'recorded' | 'document';
}

/** The response of a source, sent or recorded. */
export interface SourceResponse {
  /** The HTTP status. A response with 404 has no text. */
  readonly status: number;
  /** The header `content-type`. */
  readonly contentType?: string;
  /** Only the paging headers (`pagingHeaders` in pages.ts). */
  readonly headers?: PagingHeaders | undefined;
  /** Empty if there is no content. */
  readonly text: string;
  /** Reserved for the response, until a call takes it over. */
  readonly memory?: ReservedMemory | undefined;
}

/** Prints where a response comes from, for the check that has started this server (`SOURCES_LOG=1`). */
export function reportOrigin(from: 'network' | Recording['from'], { method, path }: RecordedRequest): void {
  if (process.env.SOURCES_LOG === '1') {
    console.log(JSON.stringify({ event: 'source-answer', from, request: `${method.toUpperCase()} ${path}` }));
  }
}

/** @throws Error if there is no project */
function recordingsDirectory(directory = projectDirectory()): string {
  if (directory === null) throw new Error('Recordings are in a project, and there is none here.');
  return join(directory, 'test', 'recordings');
}

/**
 * The directory of the project's recordings, to write there.
 *
 * @throws SourceError if it, or `test`, is a link: it could lead out of the project
 */
export function recordingsToWrite(project = projectDirectory()): string {
  const directory = recordingsDirectory(project);
  refuseLink(dirname(directory));
  refuseLink(directory);
  return directory;
}

function refuseLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const error = new SourceError('SOURCE_MISCONFIGURED', 'The answer cannot be recorded.');
  throw attachExplanation(error, { detail: `${path} is a link.`, hint: 'Remove the link.' });
}

/**
 * Whether no request may leave this machine: set by tests and checks (`SOURCES=replay`), and for the tools that a live check
 * must not call for real (all but those in `SOURCES_TOOLS`).
 */
export function isReplaying(): boolean {
  const { SOURCES, SOURCES_TOOLS = '[]' } = process.env;
  if (SOURCES === 'replay') return true;
  if (SOURCES !== 'live') return false;
  const tool = runningTool();
  return tool !== undefined && !JSON.parse(SOURCES_TOOLS).includes(tool);
}

/** Whether a live check or `record` sends the requests. A request that changes something is then not repeated. */
export function isTrialRun(): boolean {
  return process.env.SOURCES === 'live' || isRecording();
}

export function isRecording(): boolean {
  return process.env.SOURCES === 'record';
}

/**
 * The directory in which `market-mcp check --live` keeps responses (`SOURCES_KEPT`), so that all servers that it starts send each request
 * once; undefined in other processes.
 */
export function liveRecordingsDirectory(): string | undefined {
  if (process.env.SOURCES === 'live') return process.env.SOURCES_KEPT || undefined;
  return undefined;
}

/** The name of the file that contains the recordings of a path: `get-gas-chain.json`. */
export function recordingFile({ method, path }: RecordedRequest): string {
  const slug = path
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return `${method}-${slug}`.slice(0, 100).concat('.json');
}

/**
 * The recorded answer to a request.
 *
 * @throws SourceError if there is none; the log says how to record it
 */
export function replayRecording(request: RecordedRequest, directory = recordingsDirectory()): SourceResponse {
  if (isProduction()) {
    const detail = 'SOURCES=replay: a live server never answers from recordings.';
    const error = new SourceError(
      'SOURCE_MISCONFIGURED',
      'This server is not configured to call its source.',
    );
    throw attachExplanation(error, { detail, hint: 'Remove SOURCES from its variables.' });
  }
  const recording = findRecording(request, directory);
  if (recording) {
    reportOrigin(recording.from, request);
    return responseOfRecording(recording);
  }
  const { method, path } = request;
  const requestLine = `${method.toUpperCase()} ${path}`;
  // The log never has the values: they are arguments of the caller.
  const { method: _, path: __, ...values } = JSON.parse(requestKey(request));
  const elidedParts = Object.fromEntries(Object.keys(values).map((part) => [part, '…']));
  const requestText = JSON.stringify({ method, path, ...elidedParts });
  const exampleRecording = `{"request": ${requestText}, "status": 200, "body": …, "from": "recorded"}`;
  const detail = `No recording of this ${requestLine} in test/recordings/${recordingFile(request)}.`;
  const hint = `market-mcp record records the examples of every tool that only reads, and with --call <tool> those of one that may change something. By hand, add to the list in the file: ${exampleRecording}`;
  const error = new SourceError(
    'SOURCE_NOT_RECORDED',
    `There is no recording of ${requestLine}: make one with market-mcp record.`,
  );
  throw attachExplanation(error, { method, path, detail, hint });
}

/** The response to a request that this live check has sent before; undefined if it has not. */
export function findLiveRecording(request: RecordedRequest): SourceResponse | undefined {
  const directory = liveRecordingsDirectory();
  const recording = directory === undefined ? undefined : findRecording(request, directory);
  return recording && responseOfRecording(recording);
}

function findRecording(request: RecordedRequest, directory: string): Recording | undefined {
  const key = requestKey(request);
  return readRecordings(join(directory, recordingFile(request))).find(
    (recording) => requestKey(recording.request) === key,
  );
}

function responseOfRecording({ body, status, headers }: Recording): SourceResponse {
  return { status, headers, text: body === undefined || status === 404 ? '' : writeLiterally(body) };
}

/**
 * Records an exchange; it replaces an older one of the same request.
 *
 * @param secrets removed wherever the answer repeats them
 * @throws SourceError if a link is in the way
 */
export function writeRecording(
  request: RecordedRequest,
  { status, text, headers }: SourceResponse,
  secrets: readonly string[],
  directory = recordingsToWrite(),
): void {
  const file = join(directory, recordingFile(request));
  refuseLink(file);
  const key = requestKey(request);
  const otherRecordings = readRecordings(file).filter((recording) => requestKey(recording.request) !== key);
  const redact = redactorOf(secrets, 1);
  const newRecording: Recording = {
    request: JSON.parse(key),
    status: text === '' && status !== 404 ? 204 : status,
    headers: headers && JSON.parse(redact(JSON.stringify(headers))),
    body: text === '' ? undefined : parseLiterally(redact(text)),
    from: 'recorded',
  };
  mkdirSync(directory, { recursive: true });
  // Another process may read it at any time.
  const temporaryFile = `${file}.${process.pid}`;
  rmSync(temporaryFile, { force: true });
  writeFileSync(
    temporaryFile,
    `${escapeInvisible(writeLiterally([...otherRecordings, newRecording], 2))}\n`,
    {
      flag: 'wx',
    },
  );
  renameSync(temporaryFile, file);
}

/** JSON whose invisible and direction characters are escaped, so that a reader sees every character. */
function escapeInvisible(json: string): string {
  return json.replaceAll(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (character) =>
    Array.from({ length: character.length }, (_, unit) => {
      return `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`;
    }).join(''),
  );
}

/**
 * Records a response if this run records, in the project or for a live check.
 *
 * @param secrets removed wherever the response repeats them
 */
export function recordResponse(
  request: RecordedRequest,
  response: SourceResponse,
  secrets: () => readonly string[] = () => [],
): void {
  const directory = liveRecordingsDirectory();
  if (isRecording()) writeRecording(request, response, secrets());
  else if (directory !== undefined && !isReplaying()) writeRecording(request, response, secrets(), directory);
}

function readRecordings(file: string): readonly Recording[] {
  if (existsSync(file)) return parseLiterally(readFileSync(file, 'utf8')) as readonly Recording[];
  return [];
}

/** The same text for equal requests, whatever the order of their members. */
function requestKey(request: RecordedRequest): string {
  return JSON.stringify(sortMembers(request));
}

/** Members in order, without empty ones and without objects that have no members. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortMembers);
  const members = Object.entries(value)
    .map(([name, member]) => [name, sortMembers(member)] as const)
    .filter(([, member]) => member !== undefined && member !== null && !isEmpty(member))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members);
}

function isEmpty(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  );
}
