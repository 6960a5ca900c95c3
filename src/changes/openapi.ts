import { pass, type Result, refuse, reject } from 'market-mcp-contract/command';
import type { JsonObject } from 'market-mcp-contract/json';
import type { ApiKey, ApiRequest, ImportedTool } from '../import/imported-tool.ts';
import {
  type OperationChoice,
  readChosenOperations,
  toolsOfDocument,
  toolsOfDrafts,
  unknownAnswerHint,
} from '../import/openapi/index.ts';
import { type OpenApiDocument, readOpenApi } from '../import/openapi/openapi-document.ts';
import type { OperationDraft } from '../import/openapi/openapi-tool.ts';
import { checkedDocument } from '../import/openapi/operations.ts';
import { type HeaderPairs, readDocumentText, shownPlace } from '../project/read/read-document.ts';
import type { OpenApiAnswers } from '../questions/tool-answers.ts';
import type { ImportRun, LocatedDocument } from './import-run.ts';
import {
  findKeyValues,
  type KeyValues,
  keyValueErrors,
  type RequestKeys,
  requestOrigin,
  unusedVariables,
} from './key-values.ts';
import { readSamples, sendRequests, singleRequestErrors, withExchanges } from './send-requests.ts';

/** The operations that an author has chosen, and the document that declares them. */
interface DocumentChoice {
  readonly document: OpenApiDocument;
  readonly choice: OperationChoice;
  readonly location: string;
  readonly url: string | null;
}

/** The tools of the chosen operations. */
export async function toolsFromOpenApi(
  answers: OpenApiAnswers,
  run: ImportRun,
): Promise<Result<readonly ImportedTool[]>> {
  const { send, env } = answers;
  const documentChoice = await readDocumentChoice(answers, run);
  if (!documentChoice.ok) return documentChoice;
  if (send) return sentOperation(documentChoice.value, answers, run);
  const { document, choice, location, url } = documentChoice.value;
  if (env.length === 0) return toolsOfDocument(document, choice, location, url);
  return reject(
    '--env',
    undefined,
    'is for a request that is sent, but none is',
    'Add --send, or remove --env.',
  );
}

async function readDocumentChoice(answers: OpenApiAnswers, run: ImportRun): Promise<Result<DocumentChoice>> {
  const { tool = null, title, fields, isStrict, operations, samples: paths, send, examples } = answers;
  const { document, location, url } = await documentAt(answers.document, answers.headers, run);
  if (!document.ok) return document;
  const forOne = {
    ...{ '--title': title, '--from-sample': paths[0] },
    ...{ '--send': send ? '' : undefined, '--example': examples[0]?.text },
  };
  if (operations.length !== 1) {
    const message = `is for one tool, but ${operations.length} operations are chosen`;
    const errors = singleRequestErrors(forOne, message, (flag) => `Choose one operation, or remove ${flag}.`);
    if (errors.length > 0) return refuse(...errors);
  }
  const isReduced = (tool: string) =>
    fields.some(
      (text) => text.startsWith(`${tool}:`) || (operations.length === 1 && !/^[\w.-]+:/.test(text)),
    );
  const samples = await readSamples(paths);
  if (!samples.ok) return samples;
  const choice = { operations, tool, isReduced, isStrict, samples: samples.value };
  return pass({ document: document.value, choice, location, url });
}

/** Whether the document declares no answer of the one operation that is chosen. */
export async function lacksAnswer(answers: OpenApiAnswers, run: ImportRun): Promise<boolean> {
  const documentChoice = answers.operations.length === 1 ? await readDocumentChoice(answers, run) : undefined;
  if (!documentChoice?.ok) return false;
  const { document, choice, location, url } = documentChoice.value;
  const drafts = readChosenOperations(document, choice, location, url);
  return !drafts.ok && drafts.errors.every(({ hint }) => hint === unknownAnswerHint);
}

/** The keys with which the one chosen operation is sent; undefined if it cannot be sent. */
export async function operationKeys(
  answers: OpenApiAnswers,
  run: ImportRun,
): Promise<RequestKeys | undefined> {
  const documentChoice = await readDocumentChoice(answers, run);
  const operation = documentChoice.ok
    ? await sendableOperation(documentChoice.value, answers, run)
    : documentChoice;
  if (operation.ok) return operation.value.keys;
  return undefined;
}

/** The inputSchema of the one chosen operation, if it only reads and will be sent; otherwise undefined. */
export async function sentReadInput(
  answers: OpenApiAnswers,
  run: ImportRun,
): Promise<JsonObject | undefined> {
  const documentChoice = answers.send === true ? await readDocumentChoice(answers, run) : undefined;
  const operation = documentChoice?.ok
    ? await sendableOperation(documentChoice.value, answers, run)
    : undefined;
  if (!operation?.ok || operation.value.request.method !== 'get') return undefined;
  return operation.value.draft.inputSchema;
}

/** An operation with one of the alternatives of its keys. */
interface SendableOperation {
  readonly draft: OperationDraft;
  /** With the keys of this alternative. */
  readonly request: ApiRequest;
  readonly keys: RequestKeys;
  readonly keyValues: KeyValues;
}

async function sendableOperation(
  { document, choice, location, url }: DocumentChoice,
  answers: OpenApiAnswers,
  run: ImportRun,
): Promise<Result<SendableOperation>> {
  const drafts = readChosenOperations(document, choice, location, url, true);
  if (!drafts.ok) return drafts;
  const [draft] = drafts.value;
  if (!draft) return reject('--send', undefined, 'has no request to send', 'Remove --send.');
  const { acceptedKeys = [[]] } = draft.request;
  const origin = requestOrigin(draft.request);
  const keysOf = (keys: readonly ApiKey[]): RequestKeys => {
    const variables = keys.flatMap((key) => key.variables.map(({ name }) => name));
    return { origin, sources: new Map(variables.map((variable) => [variable, { variable }])) };
  };
  const unused = unusedVariables(answers.env, acceptedKeys.map(keysOf));
  if (unused.length > 0) return refuse(...unused);
  const isStatic = (keys: readonly ApiKey[]) => keys.every(({ kind }) => kind !== 'client');
  const alternatives = await Promise.all(
    acceptedKeys
      .filter(isStatic)
      .map(async (keys) => ({ keys, keyValues: await findKeyValues(keysOf(keys), answers, run) })),
  );
  const [alternative] = alternatives.toSorted(
    ({ keyValues: a }, { keyValues: b }) =>
      a.missing.length - b.missing.length || a.unpermitted.length - b.unpermitted.length,
  );
  if (!alternative) {
    const hint = 'Save one of its answers in JSON, and add --from-sample <file>.';
    return reject('--send', undefined, 'needs a token that the API issues first, so nothing was sent', hint);
  }
  const request = { ...draft.request, acceptedKeys: [alternative.keys] };
  return pass({ draft, request, keys: keysOf(alternative.keys), keyValues: alternative.keyValues });
}

/** The tool of an operation that is sent once, for real: its answer says what the document does not. */
async function sentOperation(
  documentChoice: DocumentChoice,
  answers: OpenApiAnswers,
  run: ImportRun,
): Promise<Result<readonly ImportedTool[]>> {
  const operation = await sendableOperation(documentChoice, answers, run);
  if (!operation.ok) return operation;
  const { draft, request, keyValues } = operation.value;
  if (request.api.address.fallback === undefined)
    return reject(
      '--send',
      undefined,
      'needs the address of the API, which the document does not state',
      'Add it to servers in the document, or give a saved answer with --from-sample instead of --send.',
    );
  const errors = keyValueErrors(keyValues, '--from-openapi');
  if (errors.length > 0) return refuse(...errors);
  const { inputSchema } = draft;
  const sending = { call: request, inputSchema, examples: answers.examples, secrets: keyValues.secrets };
  const sentRequests = await sendRequests(sending, '--from-openapi', run);
  if (!sentRequests.ok) return sentRequests;
  const samples = [...(documentChoice.choice.samples ?? []), ...sentRequests.value.samples];
  const tools = toolsOfDrafts([draft], { ...documentChoice.choice, samples });
  if (tools.ok) return pass(tools.value.map((tool) => withExchanges(tool, sentRequests.value)));
  return tools;
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
    return { document, location, url: null };
  }
  const { text, url, beside: filesBeside } = await readDocumentText(place, headers);
  const read = await readOpenApi(text, location, filesBeside);
  const placed = { document: read.ok ? checkedDocument(read.value, location) : read, location, url };
  if (placed.document.ok) documents.set(place, placed);
  return placed;
}
