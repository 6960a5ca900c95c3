import { pass, type Result, refuse, reject } from 'market-mcp-contract/command';
import { type JsonObject, objectOr } from 'market-mcp-contract/json';
import type { ApiCall, ApiKey, Imported } from '../import/imported-tool.ts';
import { toolsOfDocument, unknownAnswerHint } from '../import/openapi/index.ts';
import { readOpenApi } from '../import/openapi/openapi-document.ts';
import { checkedDocument } from '../import/openapi/operations.ts';
import type { AnswerSample } from '../import/sample.ts';
import { type HeaderPairs, readDocumentText, shownPlace } from '../project/read/read-document.ts';
import type { OpenApiAnswers } from '../questions/tool-answers.ts';
import type { ImportRun, LocatedDocument } from './import-run.ts';
import {
  type KeyValues,
  keyValueErrors,
  keyValues,
  type RequestKeys,
  requestOrigin,
  unusedVariables,
} from './key-values.ts';
import { onlyForOne, samplesAt, sendRequests, withSentAnswers } from './send-requests.ts';

/** Makes the tools of the chosen operations, with answers of the API in addition to the saved ones. */
type ToolMaker = (answers: readonly AnswerSample[]) => Result<readonly Imported[]>;

/** The tools of the chosen operations. */
export async function fromOpenApi(
  answers: OpenApiAnswers,
  run: ImportRun,
): Promise<Result<readonly Imported[]>> {
  const { send, env } = answers;
  const maker = await toolMaker(answers, run);
  if (!maker.ok) return maker;
  if (send) return sentOperation(maker.value, answers, run);
  if (env.length === 0) return maker.value([]);
  return reject(
    '--env',
    undefined,
    'is for a request that is sent, but none is',
    'Add --send, or remove --env.',
  );
}

async function toolMaker(answers: OpenApiAnswers, run: ImportRun): Promise<Result<ToolMaker>> {
  const { tool = null, title, fields, isStrict, operations, samples: paths, send, examples } = answers;
  const { document, where: location, url } = await documentAt(answers.document, answers.headers, run);
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
  return pass((apiAnswers) =>
    toolsOfDocument(document.value, { ...choice, samples: [...samples.value, ...apiAnswers] }, location, url),
  );
}

/** Whether the document declares no answer of the one operation that is chosen. */
export async function lacksAnswer(answers: OpenApiAnswers, run: ImportRun): Promise<boolean> {
  const maker = answers.operations.length === 1 ? await toolMaker(answers, run) : undefined;
  const tools = maker?.ok ? maker.value([]) : maker;
  return tools?.ok === false && tools.errors.every(({ hint }) => hint === unknownAnswerHint);
}

/** The keys with which the one chosen operation is sent; undefined if it cannot be sent. */
export async function operationKeys(
  answers: OpenApiAnswers,
  run: ImportRun,
): Promise<RequestKeys | undefined> {
  const maker = await toolMaker(answers, run);
  const operation = maker.ok ? await sendableOperation(maker.value, answers, run) : maker;
  return operation.ok ? operation.value.keys : undefined;
}

/** The inputSchema of the one chosen operation, if it only reads and will be sent; otherwise undefined. */
export async function sentReadInput(
  answers: OpenApiAnswers,
  run: ImportRun,
): Promise<JsonObject | undefined> {
  const maker = answers.send === true ? await toolMaker(answers, run) : undefined;
  const operation = maker?.ok ? await sendableOperation(maker.value, answers, run) : undefined;
  if (!operation?.ok || operation.value.call.method !== 'get') return undefined;
  return operation.value.inputSchema;
}

/** An operation with one of the alternatives of its keys. */
interface SendableOperation {
  readonly call: ApiCall;
  readonly inputSchema: JsonObject;
  readonly keys: RequestKeys;
  readonly found: KeyValues;
}

async function sendableOperation(
  make: ToolMaker,
  answers: OpenApiAnswers,
  run: ImportRun,
): Promise<Result<SendableOperation>> {
  const draft = make([{ name: 'the answer', value: { answer: null } }]);
  if (!draft.ok) return draft;
  const [{ call, entry } = {}] = draft.value;
  if (!call) return reject('--send', undefined, 'has no request to send', 'Remove --send.');
  const { needs = [[]] } = call;
  const origin = requestOrigin(call);
  const keysOf = (keys: readonly ApiKey[]): RequestKeys => {
    const variables = keys.flatMap((key) => key.variables.map(({ name }) => name));
    return { origin, sources: new Map(variables.map((variable) => [variable, { variable }])) };
  };
  const unused = unusedVariables(answers.env, needs.map(keysOf));
  if (unused.length > 0) return refuse(...unused);
  const isStatic = (keys: readonly ApiKey[]) => keys.every(({ kind }) => kind !== 'client');
  const alternatives = await Promise.all(
    needs
      .filter(isStatic)
      .map(async (keys) => ({ needs: keys, found: await keyValues(keysOf(keys), answers, run) })),
  );
  const [alternative] = alternatives.toSorted(
    ({ found: a }, { found: b }) =>
      a.missing.length - b.missing.length || a.unpermitted.length - b.unpermitted.length,
  );
  if (!alternative) {
    const hint = 'Save one of its answers in JSON, and add --from-sample <file>.';
    return reject('--send', undefined, 'needs a token that the API issues first, so nothing was sent', hint);
  }
  const inputSchema = objectOr((entry as JsonObject).inputSchema);
  const { found } = alternative;
  return pass({
    call: { ...call, needs: [alternative.needs] },
    inputSchema,
    keys: keysOf(alternative.needs),
    found,
  });
}

/** The tool of an operation that is sent once, for real: its answer says what the document does not. */
async function sentOperation(
  make: ToolMaker,
  answers: OpenApiAnswers,
  run: ImportRun,
): Promise<Result<readonly Imported[]>> {
  const operation = await sendableOperation(make, answers, run);
  if (!operation.ok) return operation;
  const { call, inputSchema, found } = operation.value;
  const errors = keyValueErrors(found, '--from-openapi');
  if (errors.length > 0) return refuse(...errors);
  const { examples } = answers;
  const realAnswers = await sendRequests(
    { call, inputSchema, examples, secrets: found.values },
    '--from-openapi',
    run,
  );
  if (!realAnswers.ok) return realAnswers;
  const tools = make(realAnswers.value.samples);
  return tools.ok ? pass(tools.value.map((tool) => withSentAnswers(tool, realAnswers.value))) : tools;
}

/**
 * The document at a path or URL, or on stdin. Each is read once per run.
 *
 * @param headers for the download
 */
export async function documentAt(
  place: string,
  headers: HeaderPairs,
  { documents }: ImportRun,
): Promise<LocatedDocument> {
  const cachedDocument = documents.get(place);
  if (cachedDocument) return cachedDocument;
  const location = place === '-' ? '--from-openapi' : shownPlace(place);
  if (headers.length > 0 && !/^https?:\/\//i.test(place)) {
    const document = reject('--header', undefined, 'is for a document at a URL', 'Remove --header.');
    return { document, where: location, url: null };
  }
  const { text, url, beside: filesBeside } = await readDocumentText(place, headers);
  const read = await readOpenApi(text, location, filesBeside);
  const placed = { document: read.ok ? checkedDocument(read.value, location) : read, where: location, url };
  if (placed.document.ok) documents.set(place, placed);
  return placed;
}
