import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  CommandError,
  type InputError,
  inputError,
  pass,
  type Result,
  readInput,
  refuse,
  reject,
  shellLine,
} from 'market-mcp-contract/command';
import { signals } from 'market-mcp-contract/definition';
import { isObject, type Json, type JsonObject, membersOf, objectOr, shorten } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { fieldsSchema } from '../fields/shape-schema.ts';
import { withCredentials } from '../import/credentials.ts';
import type { Imported, RealExchange } from '../import/model.ts';
import { toolDescription } from '../import/openapi/describe.ts';
import { effectOf } from '../import/openapi/tool.ts';
import { type PageMembers, pageMembersIn, withPageMembers } from '../import/pages.ts';
import { readSample } from '../import/read-sample.ts';
import type { GivenRequest } from '../import/request/curl.ts';
import { harRequests } from '../import/request/har.ts';
import { curlIn, givenArguments, type ReadRequest, readRequest, refused } from '../import/request/index.ts';
import { isCurl } from '../import/request/shown.ts';
import { type AnswerSample, toolOfSamples } from '../import/sample.ts';
import { toolToDo } from '../import/to-do.ts';
import { dotEnv } from '../project/read/dot-env.ts';
import { defaultDescription } from '../questions/defaults.ts';
import type { ToolAnswers } from '../questions/tool-answers.ts';
import { exampleFor } from '../tools/example-values.ts';
import { metaOf } from '../tools/meta.ts';
import { samplesAt } from './samples.ts';
import { forWriting } from './writing.ts';

type Answers = Extract<ToolAnswers, { kind: 'request' }>;

const maxHarBytes = 50_000_000;

/** Values of keys that the author has typed at the terminal in this run. */
export const typedKeys = new Map<string, string>();

/** What a text or a file holds: one curl command, or the requests of a HAR file. */
export async function requestsIn(text: string): Promise<Result<readonly GivenRequest[]>> {
  try {
    // Words with a space, and curl alone, were meant as a command.
    if (!isCurl(text) && /\S\s|^curl$/.test(text.trim()) && !existsSync(text.trim())) {
      const hint =
        "Write 'curl https://api.example.com/prices', or the path of a file that holds such a line.";
      return reject('--from-request', text, 'is neither a curl command with a URL nor a file', hint);
    }
    const content = isCurl(text) ? text : await readInput(text.trim(), maxHarBytes);
    const read = isCurl(content) ? curlIn(content) : pass(harRequests(jsonOf(content)));
    return read.ok ? pass([read.value].flat()) : read;
  } catch (error) {
    return refused(error);
  }
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The chosen requests, read, in the order of the flags; nothing is sent. */
export async function readRequests({
  fromRequest: texts,
  request: number,
  input,
  constant: constants,
  addresses: given = new Map(),
}: Answers): Promise<Result<readonly ReadRequest[]>> {
  if (number !== undefined && texts.length > 1) {
    const message = `is for one HAR file, but there are ${texts.length} requests`;
    return reject('--request', number, message, 'Give one request at a time.');
  }
  const read: ReadRequest[] = [];
  const addresses = new Map(given);
  for (const text of texts) {
    const found = await requestsIn(text);
    if (!found.ok) return found;
    const request = found.value[(number ?? 1) - 1];
    if (!request || (number === undefined && found.value.length > 1)) {
      const hint = 'Run the command without --request to list them.';
      return reject('--request', number, `is not the number of one of ${found.value.length} requests`, hint);
    }
    try {
      const one = readRequest(request, { input, constants, addresses });
      if (!one.ok) return one;
      for (const { name, fallback } of one.value.call.api.variables)
        if (fallback !== undefined) addresses.set(name, fallback);
      read.push(one.value);
    } catch (error) {
      return refused(error);
    }
  }
  return pass(read);
}

/** The variables of keys of which no value is known. */
export function missingKeys(read: readonly ReadRequest[], directory: string): readonly string[] {
  const known = valuesIn(directory);
  return read.flatMap(({ secrets }) =>
    [...secrets].flatMap(([name, value]) => (value === null && !known(name) ? [name] : [])),
  );
}

function valuesIn(directory: string): (name: string) => string | undefined {
  const file = dotEnv(resolve(directory));
  return (name) => typedKeys.get(name) ?? (process.env[name]?.trim() || file[name]);
}

/** The tools of the requests, each sent once, for each example once more. */
export async function fromRequests(
  answers: Answers,
  profile: PlatformProfile,
): Promise<Result<readonly Imported[]>> {
  const read = await readRequests(answers);
  if (!read.ok) return read;
  const isSent = answers.send !== false && answers.fromSample === undefined;
  if (!isSent && answers.fromSample === undefined)
    return reject(
      '--no-send',
      undefined,
      'leaves no answer to make the tool from',
      'Add --from-sample <file>.',
    );
  const errors = [...ofOne(answers), ...(isSent ? consentErrors(answers, read.value) : [])];
  if (errors.length > 0) return refuse(...errors);
  const missing = !isSent ? [] : missingKeys(read.value, answers.directory);
  if (missing.length > 0) {
    const message = `has no value for ${missing.join(' and ')}, so nothing was sent`;
    return reject(
      '--from-request',
      undefined,
      message,
      'Set it in the environment or in .env, or write the key in its place.',
    );
  }
  const tools: Imported[] = [];
  for (const one of read.value) {
    const name = answers.tool ?? freeName(one.name, tools);
    const tool = await toolOf(one, name, answers, profile);
    if (!tool.ok) return tool;
    tools.push(tool.value);
  }
  return pass(withCredentials(tools));
}

function freeName(name: string, tools: readonly Imported[]): string {
  const isTaken = (one: string) => tools.some(({ entry }) => entry.name === one);
  for (let count = 1; ; count += 1) {
    const free = count === 1 ? name : `${name.slice(0, 60)}_${count}`;
    if (!isTaken(free)) return free;
  }
}

/** Flags that describe one tool, beside several requests. */
function ofOne({
  fromRequest: requests,
  tool,
  description,
  title,
  input,
  constant: constants,
  example: examples,
}: Answers): readonly InputError[] {
  if (requests.length === 1) return [];
  const given = {
    '--tool': tool,
    '--description': description,
    '--title': title,
    '--input': input[0]?.name,
    '--constant': constants[0],
    '--example': examples[0]?.text,
  };
  return Object.entries(given).flatMap(([flag, value]) =>
    value === undefined
      ? []
      : [
          inputError(
            flag,
            value,
            `is for one request, but there are ${requests.length}`,
            'Give one request at a time.',
          ),
        ],
  );
}

function consentErrors({ send, effect }: Answers, read: readonly ReadRequest[]): readonly InputError[] {
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

const known = new Map<string, Promise<readonly Sent[]>>();

interface Sent {
  readonly arguments: JsonObject;
  readonly status: number;
  readonly text: string | null;
  readonly headers?: JsonObject | undefined;
}

async function toolOf(
  read: ReadRequest,
  name: string,
  answers: Answers,
  { toolMeta }: PlatformProfile,
): Promise<Result<Imported>> {
  const { description, title, meta } = answers;
  const effect = answers.effect ?? (read.onlyReads ? 'reads' : effectOf(read.call.method, name));
  const call = {
    ...read.call,
    ...(effect === 'reads' && read.call.method === 'post' && { onlyReads: true as const }),
  };
  const variants = argumentsOf(read, answers);
  if (!variants.ok) return variants;
  const values = valuesIn(answers.directory);
  const secrets = new Map(
    [...read.secrets].flatMap(([variable, value]) => {
      const one = value ?? values(variable);
      return one === undefined ? [] : [[variable, one] as const];
    }),
  );
  const { fromSample: saved } = answers;
  const sent = saved ? [] : await sentOnce(call, variants.value, secrets);
  const samples = saved ? await samplesAt(saved) : answersIn(call, sent);
  if (!samples.ok) return samples;
  const { wrapped, forced } = asRecords(samples.value);
  const imported = toolOfSamples(
    wrapped.filter(({ value }) => !isEmptyList(value)),
    {
      name,
      input: read.input,
      description,
      title,
      effect,
      ...(meta.length > 0 && { meta: metaOf(meta, toolMeta) }),
    },
    (fields, returns) => defaultDescription(name, fields, returns),
  );
  if (!imported.ok) return imported;
  const { wrap = null, answerOf, entry, ...tool } = imported.value;
  const said = description ?? descriptionOf(read, entry as JsonObject);
  const texts = [...wrapped];
  const exchanges = sent.map((one): RealExchange => {
    const sample = one.text === null ? undefined : texts.shift();
    const answer = sample === undefined ? null : answerOf(sample.value);
    return { arguments: one.arguments, answer, ...(one.headers && { headers: one.headers }) };
  });
  const pages = pagesOf(call, sent);
  const paged = pages.size > 0 ? pagedEntry(entry as JsonObject, pages) : entry;
  const made: Imported = {
    ...tool,
    entry: said === toolToDo ? paged : { ...paged, description: said },
    changes: [
      ...read.notes.map((note) => ({ tool: name, ...note })),
      ...sentChange(name, call, sent),
      ...tool.changes,
    ],
    call: {
      ...call,
      wrap: forced ? 'result' : wrap,
      ...(pages.size > 0 && { hasPages: true }),
      notFoundIsEmpty: sent.some(({ status }) => status === 404),
    },
    ...(exchanges.length > 0 && { exchanges }),
  };
  return pass({ ...(effect === 'reads' ? made : forWriting(made, toolMeta)), secrets });
}

/** The members that headers of the answers fill, if the query has arguments that name a page. */
function pagesOf({ method, query }: ReadRequest['call'], sent: readonly Sent[]): PageMembers {
  const isPaged = method === 'get' && query.some(({ input }) => input !== undefined);
  return new Set(isPaged ? sent.flatMap(({ headers }) => [...pageMembersIn(headers)]) : []);
}

function pagedEntry(
  { inputSchema, outputSchema, ...rest }: JsonObject,
  pages: PageMembers,
): Imported['entry'] {
  const inputs = membersOf(objectOr(inputSchema));
  return {
    ...rest,
    inputSchema,
    outputSchema: withPageMembers(objectOr(outputSchema), inputs, pages),
  } as Imported['entry'];
}

function sentChange(tool: string, { method, path }: ReadRequest['call'], sent: readonly Sent[]) {
  const [first] = sent;
  if (!first) return [];
  const times = sent.length === 1 ? 'once' : `${sent.length} times`;
  const what = `${method.toUpperCase()} ${path} was sent ${times}, and answered with HTTP ${first.status}`;
  return [
    { tool, path: 'request', what, why: 'types, examples and recordings are made from the real answer' },
  ];
}

function descriptionOf({ call: { api, method, path } }: ReadRequest, { outputSchema }: JsonObject): string {
  const found = { value: {}, pointer: '' };
  const operation = { id: null, method, path, summary: '', found, shared: found };
  const own = Object.entries(membersOf(outputSchema)).filter(([name]) => !Object.hasOwn(signals, name));
  return toolDescription(operation, api.title, { properties: Object.fromEntries(own) });
}

/** The arguments of each request to send: those of the command, and those of each example. */
function argumentsOf({ input }: ReadRequest, { example: examples }: Answers): Result<readonly JsonObject[]> {
  const root: JsonObject = { type: 'object', ...fieldsSchema(input) };
  const base = givenArguments(input);
  const variants: JsonObject[] = [];
  for (const { parameter, text } of examples) {
    const schema = isObject(root.properties) ? root.properties[parameter] : undefined;
    if (!isObject(schema)) {
      const hint = `They are ${input.map(({ name }) => name).join(', ') || 'none'}.`;
      return reject(
        '--example',
        `${parameter}=${text}`,
        `names ${parameter}, which is not an argument`,
        hint,
      );
    }
    const value = exampleFor(text, { schema, root }, '--example');
    if (!value.ok) return value;
    variants.push({ ...base, [parameter]: value.value });
  }
  const isWhole = (args: JsonObject) =>
    input.every(({ name, required }) => !required || args[name] !== undefined);
  const all = [base, ...variants].filter(isWhole);
  if (all.length > 0) return pass(all);
  const open = input.filter(({ name, required }) => required && base[name] === undefined);
  const message = `has no value for ${open.map(({ name }) => name).join(', ')}, so nothing was sent`;
  return reject(
    '--from-request',
    undefined,
    message,
    `Give one: ${shellLine(['--example', `${open[0]?.name}=…`])}`,
  );
}

/** The answers to a request; in one run, each is sent once. */
function sentOnce(
  call: ReadRequest['call'],
  variants: readonly JsonObject[],
  secrets: ReadonlyMap<string, string>,
): Promise<readonly Sent[]> {
  const key = JSON.stringify([call, variants, [...secrets]]);
  const before = known.get(key);
  if (before) return before;
  const all = (async () => {
    const { tryRequest } = await import('../project/source/trial.ts');
    const sent: Sent[] = [];
    for (const [i, args] of variants.entries())
      sent.push({
        arguments: args,
        ...(await tryRequest(call, args, (name) => secrets.get(name) ?? '', i > 0)),
      });
    return sent;
  })();
  known.set(key, all);
  all.catch(() => known.delete(key));
  return all;
}

/** The answers without their envelopes. */
function answersIn(
  { envelope }: ReadRequest['call'],
  sent: readonly Sent[],
): Result<readonly AnswerSample[]> {
  const samples: AnswerSample[] = [];
  for (const { text } of sent) {
    if (text === null) continue;
    const sample = readSample(text, 'the answer');
    if (!sample.ok) return sample;
    const { value } = sample.value;
    if (envelope && isObject(value)) {
      const problem = isObject(value.error)
        ? value.error
        : Array.isArray(value.errors)
          ? value.errors[0]
          : undefined;
      if (problem !== undefined) {
        const said = isObject(problem) ? String(problem.message ?? '') : String(problem);
        const what = `The API answers with an error: ${shorten(said, 200)}`;
        throw new CommandError('NOT_ANSWERED', what, 'Correct the command. Nothing was written.');
      }
      samples.push({ ...sample.value, value: value[envelope === 'graphql' ? 'data' : 'result'] ?? null });
    } else samples.push(sample.value);
  }
  return pass(samples);
}

/** Values that are no objects or lists, and objects with members that callers would read as signals, become `{ result }`. */
function asRecords(samples: readonly AnswerSample[]): {
  readonly wrapped: readonly AnswerSample[];
  readonly forced: boolean;
} {
  const isTaken = (value: Json) =>
    isObject(value) &&
    Object.entries(signals).some(
      ([name, { type }]) => Object.hasOwn(value, name) && (name === 'error' || typeof value[name] !== type),
    );
  const isPlain = ({ value }: AnswerSample) => !isObject(value) && !Array.isArray(value);
  const forced = samples.some(
    (one) => isPlain(one) || (isTaken(one.value) && Object.keys(objectMembers(one.value)).length > 1),
  );
  return {
    wrapped: forced ? samples.map((one) => ({ ...one, value: { result: one.value } })) : samples,
    forced,
  };
}

function objectMembers(value: Json): JsonObject {
  return isObject(value) ? value : {};
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}
