import { pass, type Result, refuse, reject } from 'market-mcp-contract/command';
import { type JsonObject, objectOr } from 'market-mcp-contract/json';
import type { ApiKey, Imported } from '../import/model.ts';
import { type OpenApiDocument, readOpenApi } from '../import/openapi/document.ts';
import { toolsOfDocument, unknownAnswerHint } from '../import/openapi/index.ts';
import { checkedDocument } from '../import/openapi/operations.ts';
import type { AnswerSample } from '../import/sample.ts';
import { type HeaderPairs, readDocumentText, shownPlace } from '../project/read/document.ts';
import type { ToolAnswers } from '../questions/tool-answers.ts';
import { answersTo, onlyForOne, type Sending, samplesAt, valuesOf, withAnswers } from './sending.ts';

/** The tools of the chosen operations. */
export async function fromOpenApi(answers: ToolAnswers): Promise<Result<readonly Imported[]>> {
  const { fromOpenapi = '', tool = null, title, fields = [], strictSchema: isStrict } = answers;
  const { operation: operations = [], fromSample: paths = [] } = answers;
  const { send = false, example: examples = [], directory = '.' } = answers;
  const { document, where, url } = await documentAt(fromOpenapi, answers.header);
  if (!document.ok) return document;
  const forOne = {
    ...{ '--title': title, '--from-sample': paths[0] },
    ...{ '--send': send ? '' : undefined, '--example': examples[0]?.text },
  };
  if (operations.length !== 1) {
    const message = `is for one tool, but ${operations.length} operations are chosen`;
    const errors = onlyForOne(forOne, message, (flag) => `Choose one operation, or remove ${flag}.`);
    if (errors.length > 0) return refuse(...errors);
  }
  const isReduced = (tool: string) =>
    fields.some(
      (text) => text.startsWith(`${tool}:`) || (operations.length === 1 && !/^[\w.-]+:/.test(text)),
    );
  const samples = await samplesAt(paths);
  if (!samples.ok) return samples;
  const choice = { operations, tool, isReduced, isStrict };
  const made = (given: readonly AnswerSample[]) =>
    toolsOfDocument(document.value, { ...choice, samples: [...samples.value, ...given] }, where, url);
  return send ? sentOperation(made, { examples, directory }) : made([]);
}

/** Whether the document declares no answer of the one operation that is chosen. */
export async function lacksAnswer(answers: ToolAnswers): Promise<boolean> {
  const tools = answers.operation?.length === 1 ? await fromOpenApi(answers) : pass([]);
  return !tools.ok && tools.errors.every(({ hint }) => hint === unknownAnswerHint);
}

/** The tool of an operation that is sent once, for real: its answer says what the document does not. */
async function sentOperation(
  made: (samples: readonly AnswerSample[]) => Result<readonly Imported[]>,
  place: Pick<Sending, 'examples' | 'directory'>,
): Promise<Result<readonly Imported[]>> {
  const draft = made([{ name: 'the answer', value: { answer: null } }]);
  const [{ call, entry } = {}] = draft.ok ? draft.value : [];
  if (!draft.ok || !call) return draft;
  const { needs = [[]] } = call;
  const missing = (keys: readonly ApiKey[]) => {
    const all = keys.flatMap(({ variables }) => variables.map(({ name }) => [name, null] as const));
    return new Map(all).size - valuesOf(new Map(all), place.directory).size;
  };
  const isStatic = (keys: readonly ApiKey[]) => keys.every(({ kind }) => kind !== 'client');
  const [keys] = needs.filter(isStatic).toSorted((a, b) => missing(a) - missing(b));
  if (!keys) {
    const hint = 'Save one of its answers in JSON, and add --from-sample <file>.';
    return reject('--send', undefined, 'needs a token that the API issues first, so nothing was sent', hint);
  }
  const sending = {
    call: { ...call, needs: [keys] },
    inputSchema: objectOr((entry as JsonObject).inputSchema),
    secrets: new Map(keys.flatMap(({ variables }) => variables.map(({ name }) => [name, null]))),
    ...place,
  };
  const sent = await answersTo(sending, '--from-openapi');
  if (!sent.ok) return sent;
  const tools = made(sent.value.samples);
  return tools.ok ? pass(tools.value.map((tool) => withAnswers(tool, sent.value))) : tools;
}

interface Placed {
  readonly document: Result<OpenApiDocument>;
  readonly where: string;
  readonly url: string | null;
}

const known = new Map<string, Placed>();

/**
 * The document at a path or URL, or on stdin. Each is read once per run. `where` names it in errors.
 *
 * @param headers for the download
 */
export async function documentAt(place: string, headers: HeaderPairs = []): Promise<Placed> {
  const before = known.get(place);
  if (before) return before;
  const where = place === '-' ? '--from-openapi' : shownPlace(place);
  if (headers.length > 0 && !/^https?:\/\//i.test(place)) {
    const document = reject('--header', undefined, 'is for a document at a URL', 'Remove --header.');
    return { document, where, url: null };
  }
  const { text, url, beside } = await readDocumentText(place, headers);
  const read = await readOpenApi(text, where, beside);
  const placed = { document: read.ok ? checkedDocument(read.value, where) : read, where, url };
  if (placed.document.ok) known.set(place, placed);
  return placed;
}
