import { existsSync } from 'node:fs';
import { CommandError, type Result, reject, singleLine, unwrap } from 'market-mcp-contract/command';
import { shorten } from 'market-mcp-contract/json';
import { generic } from 'market-mcp-contract/platforms';
import { mcpServerAt } from '../../changes/mcp.ts';
import { documentAt, lacksAnswer } from '../../changes/openapi.ts';
import { readRequests, requestsIn } from '../../changes/request.ts';
import { typedKeys, valuesOf } from '../../changes/sending.ts';
import { writingTools } from '../../import/mcp.ts';
import { operationName, operationsOf } from '../../import/openapi/operations.ts';
import { plainText } from '../../import/openapi/text.ts';
import { curlIn, type ReadRequest } from '../../import/request/index.ts';
import { isCurl } from '../../import/request/shown.ts';
import { type ToolParts, toolQuestions } from '../../questions/tool.ts';
import { type ToolAnswers, toolAnswers } from '../../questions/tool-answers.ts';
import type { Asker, TextPrompt } from './asker.ts';
import { Back } from './leaving.ts';

/** What an author starts from, the first question. */
export type ChosenStart = 'request' | 'blank' | 'sample' | 'openapi' | 'url' | 'spec';

export const starts = [
  {
    value: 'request',
    label: 'Paste a curl command',
    hint: 'it is sent once, and becomes a tool that calls the API',
  },
  { value: 'blank', label: 'Blank', hint: 'describe the inputs and outputs of the tool' },
  { value: 'sample', label: 'A sample answer', hint: 'JSON from an API' },
  { value: 'openapi', label: 'An OpenAPI document', hint: 'its operations become tools that call the API' },
  { value: 'url', label: 'A running MCP server', hint: 'your server forwards calls to its tools' },
  { value: 'spec', label: 'A spec file', hint: 'tool specs or MCP tool definitions' },
] as const satisfies readonly {
  readonly value: ChosenStart;
  readonly label: string;
  readonly hint: string;
}[];

/** The first question after each start. */
const firstAfter = {
  request: 'fromRequest',
  blank: 'tool',
  sample: 'fromSample',
  openapi: 'fromOpenapi',
  url: 'fromUrl',
  spec: 'spec',
} as const satisfies { readonly [start in ChosenStart]: keyof ToolParts };

/** Flags that say what the tools are made from: they answer the first question. */
const decisive = [
  ...Object.values(firstAfter),
  'description',
  'effect',
  'input',
  'output',
  'returns',
] as const;

/** A file that was named is suggested after each start that needs one. */
const file = 'file';

/** Whether the flags leave the first question open. */
export function isStartOpen(given: Partial<ToolParts>): boolean {
  return decisive.every((name) => given[name] === undefined && given.ask?.includes(name) !== true);
}

/** The given answers, with the start that `ask` names. */
export function withStart<Parts extends Partial<ToolParts>>(
  given: Parts,
): Parts & { readonly start?: ChosenStart } {
  const { ask = [] } = given;
  const start = starts.find(({ value }) => ask.includes(firstAfter[value]));
  return start ? { ...given, start: start.value } : given;
}

/**
 * What `ask` must name to resume with these answers: the question that was being asked if it has an answer, and the first
 * question after a start that no answer names.
 */
export function askedAgain<Parts extends Partial<ToolParts> & { readonly start?: ChosenStart }>(
  parts: Parts,
  part: keyof Parts | undefined,
): readonly string[] {
  const { start } = parts;
  const isTold = start === 'blank' ? !isStartOpen({ ...parts, ask: [] }) : parts[firstAfter[start ?? 'spec']];
  const again = part !== undefined && parts[part] !== undefined ? [String(part)] : [];
  return [...new Set([...again, ...(start === undefined || isTold ? [] : [firstAfter[start]])])];
}

/** Asks for the files of sample answers, separated by commas. */
export function askSamples(asker: Asker, { fromSample }: Partial<ToolParts>): Promise<readonly string[]> {
  const { prompt, parse } = toolQuestions.fromSample;
  return asker.text({
    message: `${prompt.message} Separate several by commas.`,
    placeholder: 'base.json, ethereum.json',
    shared: file,
    before: fromSample?.join(', '),
    parse(text) {
      const paths = text.split(',').map((path) => path.trim());
      const given = paths.filter((path) => path !== '');
      const missing = given.find((path) => !existsSync(path));
      return missing === undefined
        ? parse(given.length > 0 ? given : [''])
        : noSuchFile('--from-sample', missing);
    },
  });
}

/** Asks for a curl command or a file. Lines that a paste continues are joined as the shell joins them. */
export function askRequest(asker: Asker, { fromRequest }: Partial<ToolParts>): Promise<readonly string[]> {
  const { prompt, parse } = toolQuestions.fromRequest;
  return asker.text({
    ...prompt,
    shared: file,
    before: fromRequest?.[0],
    joined: (pasted) => pasted.replaceAll(/[\\^][ \t]*(?:\r\n?|\n)/g, ' '),
    parse(text) {
      const parsed = parse([text]);
      if (!parsed.ok || (!isCurl(text) && existsSync(text.trim()))) return parsed;
      if (!isCurl(text)) return noSuchFile('--from-request', text);
      const read = curlIn(text);
      return read.ok ? parsed : read;
    },
  });
}

/** Asks which request of a HAR file becomes a tool. */
export async function askHarRequest(
  asker: Asker,
  { fromRequest = [], request }: Partial<ToolParts>,
): Promise<number> {
  const found = unwrap(await requestsIn(fromRequest[0] ?? ''));
  if (found.length === 1) return 1;
  const options = found.map(({ method, url }, i) => ({
    value: String(i + 1),
    label: singleLine(`${method.toUpperCase()} ${url.replace(/\?.*/s, '')}`),
  }));
  return Number(
    await asker.choose('Which request?', options, request === undefined ? undefined : String(request)),
  );
}

/** Asks which values of a request are inputs, if one of them only looks like one; the others stay as they are. */
export async function askConstants(
  asker: Asker,
  { constant: before = [], ...parts }: Partial<ToolParts>,
  isBack: boolean,
): Promise<readonly string[]> {
  const [read, ...others] = await requestsOf(toolAnswers(parts));
  if (!read || others.length > 0 || read.guessed.length === 0) {
    if (isBack) throw new Back();
    return before;
  }
  const names = read.input.map(({ name }) => name);
  const options = read.input.map(({ name, type, default: value }) => ({
    ...{ value: name, label: name },
    hint: value === undefined ? type : `${type} · ${shorten(JSON.stringify(value))}`,
  }));
  const inputs = await asker.search(
    'Which values of the request are inputs of the tool?',
    options,
    names.filter((name) => !before.includes(name)),
    (chosen) => `${chosen.length} of ${names.length}; the others stay as they are`,
  );
  return names.filter((name) => !inputs.includes(name));
}

/** The requests, read; none if there are errors in them, which are reported at the review. */
async function requestsOf(answers: ToolAnswers): Promise<readonly ReadRequest[]> {
  const read = answers.kind === 'request' ? await readRequests(answers) : undefined;
  return read?.ok ? read.value : [];
}

/** The name that the request itself gives to its tool. */
export async function nameOfRequest(parts: Partial<ToolParts>): Promise<string | undefined> {
  const [read] = await requestsOf(toolAnswers(parts));
  return read?.name;
}

/** `free`: nothing that is sent needs a consent. */
export type Consent = 'free' | 'send' | 'keep';

/** Asks for the keys that placeholders stand for, and whether what may change something, or is unknown, is sent. */
export async function askConsent(
  asker: Asker,
  parts: Partial<ToolParts> & { readonly directory?: string },
  isBack: boolean,
): Promise<Consent> {
  const answers = toolAnswers(parts);
  const free = (): Consent => {
    if (isBack) throw new Back();
    return 'free';
  };
  const agreed = async (question: string): Promise<Consent> =>
    (await asker.confirm(question, false)) ? 'send' : 'keep';
  if (answers.kind === 'openapi') {
    const isOpen = parts.send === undefined && (await lacksAnswer(answers, generic));
    const [operation] = answers.operation;
    if (!isOpen) return free();
    return agreed(`The document does not say what ${operation} answers. Send it once, for real?`);
  }
  const read = await requestsOf(answers);
  const secrets = new Map(read.flatMap((one) => [...one.secrets]));
  const known = valuesOf(secrets, parts.directory ?? '.');
  for (const name of [...secrets.keys()].filter((one) => !known.has(one)))
    typedKeys.set(name, await asker.hidden(`Value of ${name} (it is not shown, and written to .env alone)`));
  const [writing] = read.filter(({ onlyReads }) => !onlyReads);
  if (!writing || parts.send !== undefined) return free();
  const { method, path } = writing.call;
  return agreed(`${method.toUpperCase()} ${path} may change something. Send it once, for real?`);
}

/** Asks for the path of a spec file. */
export function askSpec(asker: Asker, { spec }: Partial<ToolParts>): Promise<string> {
  const { prompt, parse } = toolQuestions.spec;
  return asker.text({
    ...prompt,
    placeholder: 'tools.json',
    shared: file,
    before: spec,
    parse: (text) => existing(parse(text), '--spec'),
  });
}

/** Asks for an OpenAPI document until one can be read. */
export function askDocument(asker: Asker, { fromOpenapi, header }: Partial<ToolParts>): Promise<string> {
  const { prompt, parse } = toolQuestions.fromOpenapi;
  const question = {
    ...prompt,
    placeholder: 'openapi.json, or https://api.example.com/openapi.yaml',
    shared: file,
    before: fromOpenapi,
    parse: (text: string) =>
      /^https?:\/\//i.test(text.trim()) ? parse(text) : existing(parse(text), '--from-openapi'),
  };
  return askUntilRead(asker, 'fromOpenapi', question, async (place) =>
    unwrap((await documentAt(place, header)).document),
  );
}

/** Asks for an MCP server until one lists its tools. */
export function askServer(asker: Asker, { fromUrl }: Partial<ToolParts>): Promise<string> {
  const { prompt, parse } = toolQuestions.fromUrl;
  return askUntilRead(asker, 'fromUrl', { ...prompt, before: fromUrl, parse }, mcpServerAt);
}

async function askUntilRead(
  asker: Asker,
  part: keyof ToolParts,
  question: TextPrompt<string>,
  read: (place: string) => Promise<unknown>,
): Promise<string> {
  let { before } = question;
  for (;;) {
    const place = await asker.text({ ...question, before });
    before = place;
    asker.unfinished = () => ({ [part]: place });
    try {
      await read(place);
      return place;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      asker.warn([error.message, error.hint]);
    }
  }
}

/**
 * Asks which operations of a document become tools; typing filters them.
 *
 * @throws CommandError if the document cannot be read
 */
export async function askOperations(
  asker: Asker,
  { fromOpenapi = '', header, operation: before }: Partial<ToolParts>,
): Promise<readonly string[]> {
  const operations = operationsOf(unwrap((await documentAt(fromOpenapi, header)).document));
  const options = operations.map((operation) => {
    const address = `${operation.method.toUpperCase()} ${operation.path}`;
    const writes = operation.method === 'get' ? '' : ' · may change something';
    return {
      value: address,
      label: operation.id === null ? address : `${operationName(operation)}  ${address}`,
      hint: `${operation.summary}${writes}`,
    };
  });
  return asker.search(`Which of the ${operations.length} operations?`, options, before);
}

/** Asks which tools of an MCP server to import. */
export async function askTools(
  asker: Asker,
  { fromUrl = '', only }: Partial<ToolParts>,
): Promise<readonly string[]> {
  const { tools } = await mcpServerAt(fromUrl);
  const writing = writingTools(tools);
  const options = tools.map(({ name, description }) => {
    const warning = writing.has(String(name)) ? 'may change something · ' : '';
    return { value: String(name), label: String(name), hint: `${warning}${plainText(description, 80)}` };
  });
  return asker.search(`Which of the ${tools.length} tools?`, options, only);
}

function existing(parsed: Result<string>, flag: string): Result<string> {
  return !parsed.ok || existsSync(parsed.value) ? parsed : noSuchFile(flag, parsed.value);
}

function noSuchFile(flag: string, path: string): Result<never> {
  return reject(flag, path, 'there is no such file', 'Check the path.');
}
