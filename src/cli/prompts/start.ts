import { existsSync } from 'node:fs';
import { serverAt } from '../../changes/mcp.ts';
import { documentAt } from '../../changes/openapi.ts';
import { writingTools } from '../../import/mcp.ts';
import { nameOf, operationsOf } from '../../import/openapi/operations.ts';
import { plainText } from '../../import/openapi/text.ts';
import { CommandError, unwrap } from '../../model/command-error.ts';
import { inputError, refuse } from '../../model/input-error.ts';
import type { Result } from '../../model/model.ts';
import { type ToolParts, toolQuestions } from '../../questions/tool.ts';
import type { Asker } from './asker.ts';

/** What an author starts from, the first question. */
export type Start = 'blank' | 'sample' | 'openapi' | 'url' | 'spec';

const starts = [
  { value: 'blank', label: 'Blank', hint: 'describe the inputs and outputs of the tool' },
  { value: 'sample', label: 'A sample answer', hint: 'JSON from an API' },
  { value: 'openapi', label: 'An OpenAPI document', hint: 'its operations become tools that call the API' },
  { value: 'url', label: 'A running MCP server', hint: 'your server forwards calls to its tools' },
  { value: 'spec', label: 'A spec file', hint: 'tool specs or MCP tool definitions' },
] as const satisfies readonly { readonly value: Start; readonly label: string; readonly hint: string }[];

/** Flags that say what the tools are made from: they answer the first question. */
const decisive = [
  'tool',
  'description',
  'effect',
  'input',
  'output',
  'returns',
  'spec',
  'fromSample',
  'fromOpenapi',
  'fromUrl',
] as const;

/** The first question after each start. */
const firstAfter = {
  blank: 'tool',
  sample: 'fromSample',
  openapi: 'fromOpenapi',
  url: 'fromUrl',
  spec: 'spec',
} as const satisfies { readonly [start in Start]: keyof ToolParts };

/** Whether the flags leave the first question open. */
export function isStartOpen(given: Partial<ToolParts>): boolean {
  return decisive.every((name) => given[name] === undefined && given.ask?.includes(name) !== true);
}

/** The given answers, with the start that `ask` tells. */
export function withStart<Parts extends Partial<ToolParts>>(
  given: Parts,
): Parts & { readonly start?: Start } {
  const { ask = [] } = given;
  const start = ask.length === 0 ? undefined : starts.find(({ value }) => ask.includes(firstAfter[value]));
  return start ? { ...given, start: start.value } : given;
}

/**
 * What `ask` must name to resume with these answers: the question that was being asked if it has an answer, and the first
 * question after a start that no answer tells.
 */
export function askedAgain(
  parts: Partial<ToolParts> & { readonly start?: Start },
  part: string | undefined,
): readonly string[] {
  const first = parts.start && firstAfter[parts.start];
  const telling = parts.start === 'blank' ? decisive : first ? [first] : [];
  const isTold = first === undefined || telling.some((name) => parts[name] !== undefined);
  const isAnswered =
    part !== undefined && (parts as { readonly [name: string]: unknown })[part] !== undefined;
  return [...new Set([...(isAnswered ? [part] : []), ...(isTold ? [] : [first])])];
}

/** Asks what to start from. Drops the answers that belong to another start. */
export async function askStart<Parts extends Partial<ToolParts> & { readonly start?: Start }>(
  asker: Asker,
  parts: Parts,
): Promise<Parts> {
  const start = await asker.choose('Start from', starts, parts.start ?? 'blank');
  if (start === parts.start) return parts;
  const {
    spec: _,
    fromSample: __,
    fromOpenapi: ___,
    operation: ____,
    fromUrl: _____,
    only: ______,
    example: _______,
    ...rest
  } = parts;
  return { ...rest, start } as Parts;
}

/** Asks for the files of sample answers, separated by commas. */
export function askSamples(asker: Asker, before: readonly string[] | undefined): Promise<readonly string[]> {
  const { prompt, parse } = toolQuestions.fromSample;
  return asker.text({
    message: `${prompt.message} Separate several by commas.`,
    placeholder: 'base.json, ethereum.json',
    ...(before && { before: before.join(', ') }),
    parse(text) {
      const paths = text
        .split(',')
        .map((path) => path.trim())
        .filter((path) => path !== '');
      const missing = paths.find((path) => !existsSync(path));
      if (paths.length > 0 && missing === undefined) return parse(paths);
      return missing === undefined ? parse(['']) : noSuchFile('--from-sample', missing);
    },
  });
}

/** Asks for the path of a spec file. */
export function askSpec(asker: Asker, before: string | undefined): Promise<string> {
  const { prompt, parse } = toolQuestions.spec;
  return asker.text({
    ...prompt,
    placeholder: 'tools.json',
    ...(before !== undefined && { before }),
    parse: (text) => existing(parse(text), '--spec'),
  });
}

/** Asks for an OpenAPI document until one can be read. */
export async function askDocument(asker: Asker, before: string | undefined): Promise<string> {
  const { prompt, parse } = toolQuestions.fromOpenapi;
  let given = before;
  for (;;) {
    given = await asker.text({
      ...prompt,
      placeholder: 'openapi.json, or https://api.example.com/openapi.yaml',
      ...(given !== undefined && { before: given }),
      parse: (text) => (isUrl(text) ? parse(text) : existing(parse(text), '--from-openapi')),
    });
    asker.unfinished = { fromOpenapi: given };
    try {
      unwrap((await documentAt(given)).document);
      return given;
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
  place: string,
  before: readonly string[] | undefined,
): Promise<readonly string[]> {
  const operations = operationsOf(unwrap((await documentAt(place)).document));
  const options = operations.map((operation) => {
    const address = `${operation.method.toUpperCase()} ${operation.path}`;
    const writes = operation.method === 'get' ? '' : ' · may change something';
    return {
      value: address,
      label: operation.id === null ? address : `${nameOf(operation)}  ${address}`,
      hint: `${operation.summary}${writes}`,
    };
  });
  return asker.search(`Which of the ${operations.length} operations?`, options, before);
}

/** Asks for an MCP server until one lists its tools. */
export async function askServer(asker: Asker, before: string | undefined): Promise<string> {
  let given = before;
  for (;;) {
    const { prompt, parse } = toolQuestions.fromUrl;
    given = await asker.text({ ...prompt, ...(given !== undefined && { before: given }), parse });
    asker.unfinished = { fromUrl: given };
    try {
      await serverAt(given);
      return given;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      asker.warn([error.message, error.hint]);
    }
  }
}

/** Asks which tools of an MCP server to import. */
export async function askTools(
  asker: Asker,
  url: string,
  before: readonly string[] | undefined,
): Promise<readonly string[]> {
  const { tools } = await serverAt(url);
  const writing = writingTools(tools);
  const options = tools.map(({ name, description }) => {
    const warning = writing.has(String(name)) ? 'may change something · ' : '';
    return { value: String(name), label: String(name), hint: `${warning}${plainText(description, 80)}` };
  });
  return asker.search(`Which of the ${tools.length} tools?`, options, before);
}

function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text.trim());
}

function existing(parsed: Result<string>, flag: string): Result<string> {
  return !parsed.ok || existsSync(parsed.value) ? parsed : noSuchFile(flag, parsed.value);
}

function noSuchFile(flag: string, path: string): Result<never> {
  return refuse(inputError(flag, path, 'there is no such file', 'Check the path.'));
}
