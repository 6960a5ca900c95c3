import { existsSync } from 'node:fs';
import { singleLine, unwrap } from 'market-mcp-contract/command';
import { shorten } from 'market-mcp-contract/json';
import { readRequests, requestsInText } from '../../changes/request.ts';
import { curlIn, type ReadRequest } from '../../import/request/index.ts';
import { isCurl } from '../../import/request/shown.ts';
import { type ToolParts, toolQuestions } from '../../questions/tool.ts';
import { sourceOf, type ToolAnswers } from '../../questions/tool-answers.ts';
import type { Asker } from './asker.ts';
import { Back } from './leaving.ts';
import { file, noSuchFile } from './start.ts';

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
  const found = unwrap(await requestsInText(fromRequest[0] ?? ''));
  const [first, ...others] = found;
  if (first && others.length === 0) return first.number ?? 1;
  const options = found.map(({ number = 1, method, url }) => ({
    value: String(number),
    label: singleLine(`${method.toUpperCase()} ${url.replace(/\?.*/s, '')}`),
  }));
  return Number(
    await asker.choose('Which request?', options, request === undefined ? undefined : String(request)),
  );
}

/** Asks which values of a request are inputs, if one of them only looks like one; the others stay as they are. */
export async function askConstants(
  asker: Asker,
  { constant: before = [], ...parts }: ToolAnswers,
  isBack: boolean,
): Promise<readonly string[]> {
  const [read, ...others] = await requestsOf(parts);
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
export async function requestsOf(answers: ToolAnswers): Promise<readonly ReadRequest[]> {
  const read = sourceOf(answers) === 'fromRequest' ? await readRequests(answers) : undefined;
  return read?.ok ? read.value : [];
}

/** The name that the request itself gives to its tool. */
export async function nameOfRequest(parts: ToolAnswers): Promise<string | undefined> {
  const [read] = await requestsOf(parts);
  return read?.name;
}
