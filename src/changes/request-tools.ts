import { existsSync } from 'node:fs';
import {
  type InputError,
  inputError,
  pass,
  type Result,
  readInput,
  refuse,
  reject,
} from 'market-mcp-contract/command';
import { effects } from 'market-mcp-contract/definition';
import { type Json, type JsonObject, objectOr } from 'market-mcp-contract/json';
import { fieldsSchema } from '../fields/shape.ts';
import type { Imported } from '../import/imported-tool.ts';
import { outputWithoutSignals, toolDescription } from '../import/openapi/describe.ts';
import { operationEffect } from '../import/openapi/openapi-tool.ts';
import { withCredentials } from '../import/operation-credentials.ts';
import { isCurl } from '../import/request/curl-text.ts';
import type { GivenRequest } from '../import/request/given-request.ts';
import { harRequests } from '../import/request/har.ts';
import { type ReadRequest, readCurl, readRequest, rejection } from '../import/request/index.ts';
import { RequestRefusal } from '../import/request/request-refusal.ts';
import { toolOfSamples } from '../import/sample.ts';
import { successMembersOf } from '../import/success-signs.ts';
import { toolToDo } from '../import/to-do.ts';
import { freeToolName } from '../model/names.ts';
import { defaultDescription } from '../questions/defaults.ts';
import type { RequestAnswers } from '../questions/tool-answers.ts';
import type { ImportRun } from './import-run.ts';
import {
  type KeyValues,
  keyValueErrors,
  keyValues,
  type RequestKeys,
  requestOrigin,
  unusedVariables,
} from './key-values.ts';
import { onlyForOne, samplesAt, sendRequests, withExchanges } from './send-requests.ts';

const maxHarBytes = 50_000_000;

/** What a text or a file holds: one curl command, or the requests of a HAR file. */
export async function requestsInText(text: string, run: ImportRun): Promise<Result<readonly GivenRequest[]>> {
  try {
    // Words with a space, and a bare "curl", were meant as a command.
    if (!isCurl(text) && /\S\s|^curl$/.test(text.trim()) && !existsSync(text.trim())) {
      const hint =
        "Write 'curl https://api.example.com/prices', or the path of a file that holds such a line.";
      return reject('--from-request', text, 'is neither a curl command with a URL nor a file', hint);
    }
    const content = isCurl(text) ? text : await readInput(text.trim(), maxHarBytes);
    if (!isCurl(content)) return pass(harRequests(parseHar(content.replace(/^\ufeff/, ''))));
    const request = requestOfCurl(content, run);
    return request.ok ? pass([request.value]) : request;
  } catch (error) {
    return rejection(error);
  }
}

/** Reads a curl command, and keeps what repeats it without its keys. */
export function requestOfCurl(text: string, { keylessCommands }: ImportRun): Result<GivenRequest> {
  const command = readCurl(text);
  if (!command.ok) return command;
  const { request, keyless } = command.value;
  keylessCommands.set(text, keyless);
  return pass(request);
}

function parseHar(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!/^\s*\{/.test(text)) return null;
    // The rest of the message quotes the file, which contains keys.
    const [place = ''] = / at position \d+/.exec((error as Error).message) ?? [];
    throw new RequestRefusal(`is no valid JSON${place}`, 'Save the HAR file again, as a whole.');
  }
}

/** The chosen requests, read, in the order of the flags; nothing is sent. */
export async function readRequests(
  { requests, number, input, constants, segments, variables: projectVariables }: RequestAnswers,
  run: ImportRun,
): Promise<Result<readonly ReadRequest[]>> {
  if (number !== undefined && requests.length > 1) {
    const message = `is for one HAR file, but there are ${requests.length} requests`;
    return reject('--request', number, message, 'Give one request at a time.');
  }
  const read: ReadRequest[] = [];
  const variables = [...projectVariables];
  for (const text of requests) {
    const found = await requestsInText(text, run);
    if (!found.ok) return found;
    const [onlyRequest, ...otherRequests] = found.value;
    const request =
      number === undefined && otherRequests.length === 0
        ? onlyRequest
        : found.value.find((candidate) => (candidate.number ?? 1) === number);
    if (!request) {
      const hint = 'Run the command without --request to list them.';
      return reject('--request', number, `is not the number of one of ${found.value.length} requests`, hint);
    }
    try {
      const result = readRequest(request, { input, constants, segments, variables });
      if (!result.ok) return result;
      const { api, needs = [] } = result.value.call;
      variables.push(api.address, ...needs.flat().flatMap((key) => key.variables));
      read.push(result.value);
    } catch (error) {
      return rejection(error);
    }
  }
  return pass(read);
}

/** The tools of the requests, each sent once, for each example once more. */
export async function fromRequests(
  answers: RequestAnswers,
  run: ImportRun,
): Promise<Result<readonly Imported[]>> {
  const { requests, tool: name, title, input, constants, segments, examples } = answers;
  const read = await readRequests(answers, run);
  if (!read.ok) return read;
  const isSent = sendsRequests(answers);
  if (!isSent && answers.samples.length === 0) {
    const message = 'leaves no answer to make the tool from';
    return reject('--no-send', undefined, message, 'Add --from-sample <file>.');
  }
  const flags = {
    '--tool': name,
    '--title': title,
    '--input': input[0]?.name,
    '--constant': constants[0],
    '--segment': segments[0]?.name,
    '--example': examples[0]?.text,
  };
  const several = `is for one request, but there are ${requests.length}`;
  const requestsWithKeys = await Promise.all(
    read.value.map(async (request) => ({
      request,
      keys: await keyValues(requestKeys(request), answers, run),
    })),
  );
  const errors = [
    ...(requests.length > 1 ? onlyForOne(flags, several, () => 'Give one request at a time.') : []),
    ...unusedVariables(answers.env, read.value.map(requestKeys)),
  ];
  if (isSent) {
    errors.push(...consentErrors(answers, read.value));
    errors.push(...requestsWithKeys.flatMap(({ keys }) => keyValueErrors(keys, '--from-request')));
  }
  if (errors.length > 0) return refuse(...errors);
  const tools: Imported[] = [];
  const takenNames = new Set<string>();
  for (const { request, keys } of requestsWithKeys) {
    const tool = await importRequest(
      request,
      name ?? freeToolName(request.name, takenNames),
      answers,
      keys.values,
      run,
    );
    if (!tool.ok) return tool;
    tools.push(tool.value);
  }
  return pass(withCredentials(tools));
}

/** Whether the requests are sent: only saved responses and `--no-send` prevent it. */
export function sendsRequests({ send, samples }: RequestAnswers): boolean {
  return send !== false && samples.length === 0;
}

/** The keys of a request, and the origin that gets them. */
export function requestKeys({ call, keySources }: ReadRequest): RequestKeys {
  return { origin: requestOrigin(call), sources: keySources };
}

function consentErrors(
  { send, effect }: RequestAnswers,
  read: readonly ReadRequest[],
): readonly InputError[] {
  if (send !== undefined) return [];
  return read
    .filter(({ onlyReads }) => !onlyReads && effect !== 'reads')
    .map(({ call: { method, path } }) => {
      const message = `would send ${method.toUpperCase()} ${path}, which may change something: nothing was sent`;
      const hint =
        'Add --send to send it once, --effect reads if it only reads, or --no-send with --from-sample <file>.';
      return inputError('--from-request', undefined, message, hint);
    });
}

async function importRequest(
  read: ReadRequest,
  name: string,
  answers: RequestAnswers,
  secrets: KeyValues['values'],
  run: ImportRun,
): Promise<Result<Imported>> {
  const { samples: paths, examples } = answers;
  const effect = answers.effect ?? (read.onlyReads ? 'reads' : operationEffect(read.call.method, name));
  const isReadByPost = effect === 'reads' && read.call.method === 'post';
  const call = { ...read.call, ...(isReadByPost && { onlyReads: true as const }) };
  const inputSchema = { type: 'object', ...fieldsSchema(read.input) };
  const sending = { call, inputSchema, examples, secrets };
  const sentRequests = paths.length > 0 ? undefined : await sendRequests(sending, '--from-request', run);
  if (sentRequests && !sentRequests.ok) return sentRequests;
  const samples = sentRequests ? pass(sentRequests.value.samples) : await samplesAt(paths);
  if (!samples.ok) return samples;
  const imported = toolOfSamples(
    samples.value,
    { name, input: read.input, keepsAllData: true },
    (fields, returns) => defaultDescription(name, fields, returns),
  );
  if (!imported.ok) return imported;
  const { wrap, ...tool } = imported.value;
  const description = requestDescription(read, tool.entry as JsonObject);
  const success = successMembersOf(samples.value.map(({ value }) => value));
  const importedTool: Imported = {
    ...tool,
    entry: {
      ...tool.entry,
      annotations: effects[effect],
      ...(description !== toolToDo && { description: description }),
    },
    call: { ...call, wrap, ...(success && { success }) },
    secrets,
  };
  const { changes, ...completeTool } = sentRequests
    ? withExchanges(importedTool, sentRequests.value)
    : importedTool;
  return pass({
    ...completeTool,
    changes: [...read.notes.map((note) => ({ tool: name, ...note })), ...changes],
  });
}

function requestDescription(
  { call: { api, method, path } }: ReadRequest,
  { outputSchema }: JsonObject,
): string {
  return toolDescription(
    { id: null, method, path },
    {},
    api.title,
    outputWithoutSignals(objectOr(outputSchema)),
  );
}
