import { type InputError, inputError, pass, type Result, refuse, reject } from 'market-mcp-contract/command';
import { freeToolName } from '../../model/names.ts';
import type { DefinitionChange } from '../../model/tool-model.ts';
import type { ImportedTool } from '../imported-tool.ts';
import { withCredentials } from '../operation-credentials.ts';
import { type AnswerSample, checkSamples } from '../sample.ts';
import { Apis } from './api.ts';
import { DocumentRefusal, type OpenApiDocument, UnknownAnswer } from './openapi-document.ts';
import { type OperationDraft, readOperation, toolNameOf, toolOfDraft } from './openapi-tool.ts';
import { brokenAt, chosenOperations, operationName, operationsOf, pointerLocation } from './operations.ts';

export interface OperationChoice {
  /** Ids of operations, or `GET /path`. */
  readonly operations: readonly string[];
  /** Name of the tool if one operation is chosen; null: the operation's name. */
  readonly tool: string | null;
  /** Schemas of answers are not widened for the examples of the document. */
  readonly isStrict?: boolean | undefined;
  /** Answers of the one operation that is chosen. */
  readonly samples?: readonly AnswerSample[] | undefined;
  /** Whether fields of the answer of a tool will be chosen, so that it may be larger before. */
  isReduced?(tool: string): boolean;
}

/** How an operation becomes a tool of which the document declares no answer. */
export const unknownAnswerHint =
  'Add --send to send it once, or save one of its answers in JSON and add --from-sample <file>.';

/** Maximum number of values to read for one operation. Among 2,639 public documents, the largest operation has 80,000. */
const maxOperationValues = 1_000_000;

/** Schemas in an answer before its fields are chosen. */
const maxSchemasBefore = 3_000;

/**
 * Tools that call the chosen operations of a document.
 *
 * @param documentAddress name of the document, for the errors
 * @param source its URL; null if it is a file
 * @returns the tools, or the reason and the place for every operation that cannot become a tool
 */
export function toolsOfDocument(
  document: OpenApiDocument,
  choice: OperationChoice,
  documentAddress: string,
  source: string | null,
): Result<readonly ImportedTool[]> {
  const drafts = readChosenOperations(document, choice, documentAddress, source);
  if (drafts.ok) return toolsOfDrafts(drafts.value, choice);
  return drafts;
}

/**
 * Reads the chosen operations of a document, for tools that are made when all answers are there.
 *
 * @param isSent the one operation will be sent, so that a real answer is there
 */
export function readChosenOperations(
  document: OpenApiDocument,
  { operations: names, tool, isReduced, samples = [] }: OperationChoice,
  documentAddress: string,
  source: string | null,
  isSent = false,
): Result<readonly OperationDraft[]> {
  const broken = names.flatMap((name) => {
    const refusal = brokenAt(document, name);
    if (refusal) return [noTool(name, refusal, documentAddress)];
    return [];
  });
  if (broken.length > 0) return refuse(...broken);
  const operations = chosenOperations(operationsOf(document), names);
  if (!operations.ok) return operations;
  if (tool !== null && operations.value.length > 1) {
    const hint = 'Choose one operation, or remove --tool.';
    const message = `names one tool, but ${operations.value.length} operations are chosen`;
    return reject('--tool', tool, message, hint);
  }
  // Before anything is sent; `toolsOfDrafts` reports the changes.
  const checked = checkSamples(samples, () => {});
  if (!checked.ok) return checked;
  const hasSamples = isSent || samples.length > 0;
  const apis = new Apis(document, source);
  const takenNames = new Set<string>();
  const errors: InputError[] = [];
  const drafts = operations.value.flatMap((operation): OperationDraft[] => {
    const name = tool ?? freeToolName(toolNameOf(operation), takenNames);
    try {
      const maxSchemas = isReduced?.(name) ? maxSchemasBefore : undefined;
      const read = () => readOperation(operation, apis, { name, maxSchemas, hasSamples });
      return [document.within(maxOperationValues, read)];
    } catch (error) {
      if (!(error instanceof DocumentRefusal)) throw error;
      errors.push(noTool(operationName(operation), error, documentAddress));
      return [];
    }
  });
  return errors.length > 0 ? refuse(...errors) : pass(drafts);
}

/** Makes the tools of operations with the answers of their API. */
export function toolsOfDrafts(
  drafts: readonly OperationDraft[],
  { operations: names, tool: chosenName, isStrict = false, samples = [] }: OperationChoice,
): Result<readonly ImportedTool[]> {
  const unnamed: DefinitionChange[] = [];
  const checked = checkSamples(samples, (path, change, reason) =>
    unnamed.push({ tool: chosenName ?? names.join(), path, what: change, why: reason }),
  );
  if (!checked.ok) return checked;
  const tools = drafts.map((draft) => toolOfDraft(draft, checked.value, isStrict));
  const [first, ...otherTools] = tools;
  if (!first) return pass([]);
  return pass(withCredentials([{ ...first, changes: [...unnamed, ...first.changes] }, ...otherTools]));
}

function noTool(operation: string, refusal: DocumentRefusal, source: string): InputError {
  const hint =
    refusal instanceof UnknownAnswer
      ? unknownAnswerHint
      : 'Choose another operation, or write this tool by hand.';
  return inputError(
    pointerLocation(refusal.pointer, source),
    operation,
    `cannot be a tool: ${refusal.message}`,
    hint,
  );
}
