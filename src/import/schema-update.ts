import { signals } from 'market-mcp-contract/definition';
import {
  clientMismatches,
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  objectOr,
  propertiesOf,
  requiredOf,
} from 'market-mcp-contract/json';
import { pageMembersIn, withPageMembers } from './page-members.ts';
import { readSample } from './read-sample.ts';
import { isFailureAnswer, toolOfSamples } from './sample.ts';
import { correctedSuccess } from './success-signs.ts';
import { extended } from './widen.ts';

/** An answer of a source in the form of the tool, and its headers that name its place among pages. */
export interface SeenAnswer {
  readonly value: Json;
  readonly headers?: JsonObject;
}

/** What is known of a tool and of its request. */
export interface SeenTool {
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** What its answer becomes. */
  readonly wrap: string | undefined;
  /** Whether headers can become members: a read by query that does not do so yet. */
  readonly takesPages: boolean;
  /** The members that say success; absent: none are named, null: they are not to be changed. */
  readonly success?: JsonObject | null | undefined;
}

/** What answers change: the outputSchema, and options of the request. */
export interface Seen {
  readonly schema: JsonObject;
  readonly wrap?: 'items' | 'result' | null;
  readonly pages?: true;
  readonly success?: JsonObject;
}

/** An outputSchema that admits answers that arrived, and what the request must do for it. */
export function seenIn(tool: SeenTool, answers: readonly SeenAnswer[]): Seen {
  const { inputSchema, outputSchema, wrap, takesPages } = tool;
  const values = answers.map(({ value }) => value);
  const typed = wrap === 'text' ? typedText(outputSchema, values) : undefined;
  if (typed) return typed;
  const matchingAnswers = values.filter((value) => isAnswer(value, outputSchema));
  const raw = wrap === 'result' ? matchingAnswers.map((value) => value.result as Json) : matchingAnswers;
  const success = tool.success === null ? undefined : correctedSuccess(raw, tool.success);
  const widenedTool = { schema: schemaWith(outputSchema, matchingAnswers), ...(success && { success }) };
  const pages = new Set(answers.flatMap(({ headers }) => [...pageMembersIn(headers)]));
  const fresh = [...pages].filter((name) => !Object.hasOwn(membersOf(outputSchema), name));
  if (!takesPages || fresh.length === 0) return widenedTool;
  return {
    ...widenedTool,
    schema: withPageMembers(widenedTool.schema, membersOf(inputSchema), new Set(fresh)),
    pages: true,
  };
}

/** The fields of texts that are all JSON, of a tool that answers with one text. */
function typedText(outputSchema: JsonObject, answers: readonly Json[]): Seen | undefined {
  const samples = answers.map((answer) => {
    const { result } = objectOr(answer);
    if (typeof result === 'string' && /^\s*[[{]/.test(result)) return readSample(result, 'the answer');
    return undefined;
  });
  const read = samples.flatMap((sample) => (sample?.ok ? [sample.value] : []));
  if (read.length === 0 || read.length < samples.length) return undefined;
  const imported = toolOfSamples(read, { name: 'typed', input: [] }, () => '');
  if (!imported.ok) return undefined;
  const { entry, wrap } = imported.value;
  const { properties, required } = objectOr((entry as JsonObject).outputSchema);
  // The signals stay unchanged in the source.
  const signalMembers = propertiesOf(outputSchema).filter(([name]) => Object.hasOwn(signals, name));
  const members = { ...objectOr(properties), ...Object.fromEntries(signalMembers) };
  return { schema: { ...outputSchema, properties: members, required: required ?? [] }, wrap };
}

/**
 * An outputSchema that also admits answers that arrived, with the members that it does not declare. What was required stays
 * required: a missing member may be null, as the source kit fills it.
 *
 * @param answers in the form of the tool
 * @returns the same schema if there is nothing to change, or if no change would make it admit them
 */
function schemaWith(schema: JsonObject, answers: readonly JsonObject[]): JsonObject {
  const completeAnswers = answers.map((answer) => fillMissing(answer, schema));
  const wider = extended(schema, completeAnswers);
  if (completeAnswers.every((answer) => clientMismatches(wider, answer, '').length === 0)) return wider;
  return schema;
}

/** Whether a value is an answer at all: no failure, and at least half of the required members are there. */
function isAnswer(value: Json, schema: JsonObject): value is JsonObject {
  if (!isObject(value) || isFailureAnswer(value)) return false;
  const required = requiredOf(schema).filter((name) => !Object.hasOwn(signals, name));
  return required.filter((name) => Object.hasOwn(value, name)).length * 2 >= required.length;
}

/** A value with null for each missing member that is required, where the source kit adds it (`source/drift.ts` of the runtime). */
function fillMissing(value: Json, schema: JsonObject, isRequired = false): Json {
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((item) => fillMissing(item, objectOr(schema.items)));
  }
  if (!isObject(value)) return value;
  const members = membersOf(schema);
  const required = requiredOf(schema);
  const filledMembers = Object.entries(value).map(([name, member]) => {
    const memberSchema = Object.hasOwn(members, name) ? members[name] : schema.additionalProperties;
    return [name, fillMissing(member, objectOr(memberSchema), required.includes(name))];
  });
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  const isOther = isRequired ? missing.length === required.length : missing.length * 2 > required.length;
  return Object.fromEntries([...filledMembers, ...(isOther ? [] : missing).map((name) => [name, null])]);
}
