import { completeHints, type Effect, effects, titleOf } from '../contract/effect.ts';
import { isObject } from '../contract/json.ts';
import type { Json, JsonObject } from '../contract/model.ts';
import { type SignalName, signals } from '../contract/outcomes.ts';
import { membersOf, propertiesOf, requiredOf } from '../contract/schema/keywords.ts';
import { fieldsSchema } from '../fields/shape-schema.ts';
import { inputError, pass, refuse, reject } from '../model/input-error.ts';
import type { Field, InputError, Result } from '../model/model.ts';
import { parseFieldName } from '../model/names.ts';
import { listOf, withSignals } from '../tools/definition.ts';
import { inferMembers, schemaOfValues } from './infer.ts';
import type { Imported } from './model.ts';

/** A saved answer of an API. */
export interface Sample {
  /** File name, for the errors. */
  readonly name: string;
  readonly value: Json;
}

/** The author's answers about the tool besides the samples. */
export interface SampledTool {
  readonly name: string;
  /** Absent: one is made from the names of the fields. */
  readonly description?: string;
  readonly input: readonly Field[];
  readonly title?: string;
  readonly effect?: Effect;
  readonly meta?: JsonObject;
}

/** Items of a list that the sample data keep. */
const keptItems = 3;

/**
 * A tool with answers like the samples. Objects are the answer itself; lists become `items` and `count`, since the
 * root of an outputSchema is an object (C§2.1).
 *
 * @param describe makes the description from the names of the fields if the author gives none
 * @returns the tool, or an error for each sample that cannot be an answer
 */
export function toolOfSamples(
  samples: readonly Sample[],
  tool: SampledTool,
  describe: (fields: readonly string[], returns: 'record' | 'list') => string,
): Result<Imported> {
  const errors = samples.flatMap(sampleErrors);
  if (errors.length > 0) return refuse(...errors);
  const isList = samples.every(({ value }) => Array.isArray(value));
  if (!isList && samples.some(({ value }) => Array.isArray(value))) {
    const list = samples.find(({ value }) => Array.isArray(value));
    const hint = 'Give samples of the same kind: all lists, or all objects.';
    return reject(list?.name ?? '', undefined, 'is a list, but another sample is an object', hint);
  }
  const values = samples.map(({ value }) => value);
  const items = isList ? values.flat() : values;
  const item = schemaOfValues(items);
  const { answer, dropped } = isList
    ? { answer: listOf({ type: 'array', description: 'The items found.', items: item }), dropped: [] }
    : answerOfRecords(items.filter(isObject));
  const names = Object.keys(membersOf(isList ? item : answer));
  const description = tool.description ?? describe(names, isList ? 'list' : 'record');
  return pass({
    entry: {
      name: tool.name,
      title: tool.title ?? titleOf(tool.name),
      description,
      inputSchema: { type: 'object', ...fieldsSchema(tool.input) },
      outputSchema: withSignals(answer),
      annotations: tool.effect ? effects[tool.effect] : completeHints(tool.name, undefined),
      ...(tool.meta && { _meta: tool.meta }),
    },
    answers: values.map((value) => answerOf(value, dropped)),
    changes: dropped.map((name) => ({
      tool: tool.name,
      path: `outputSchema.properties.${name}`,
      what: `${name} of the samples was left out`,
      why: `callers read ${name} as the signal of an empty or failed call (C§2.2)`,
    })),
  });
}

function sampleErrors({ name, value }: Sample): readonly InputError[] {
  if (!isObject(value) && !Array.isArray(value)) {
    return [inputError(name, value, 'cannot be the result of a tool', 'Give a JSON object or a list.')];
  }
  if (Object.keys(value).length === 0) {
    return [inputError(name, value, 'is empty, so it shows no fields', 'Give an answer that contains data.')];
  }
  return keyErrors(value, name);
}

/** Names that no field may have at any depth. */
function keyErrors(value: Json, where: string): readonly InputError[] {
  if (Array.isArray(value))
    return (value as readonly Json[]).flatMap((item, i) => keyErrors(item, `${where}[${i}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const parsed = parseFieldName(name, where);
    return parsed.ok ? keyErrors(member, `${where}.${name}`) : parsed.errors;
  });
}

/** `properties` and `required`, and the members that were left out because they conflict with the signals. */
function answerOfRecords(records: readonly JsonObject[]) {
  const whole = inferMembers(records, { mayBeMap: false });
  const dropped = propertiesOf(whole).flatMap(([name, { type }]) => {
    const isSignal = Object.hasOwn(signals, name);
    return isSignal && (name === 'error' || type !== signals[name as SignalName].type) ? [name] : [];
  });
  const kept = Object.entries(membersOf(whole)).filter(([name]) => !dropped.includes(name));
  const required = requiredOf(whole).filter((name) => !Object.hasOwn(signals, name));
  return { answer: { properties: Object.fromEntries(kept), required }, dropped };
}

/** The answer as the handler returns it: nested lists are truncated so that the tool's source stays readable. */
function answerOf(value: Json, dropped: readonly string[]): JsonObject {
  const short = shortened(value);
  if (isObject(short)) {
    return Object.fromEntries(Object.entries(short).filter(([name]) => !dropped.includes(name)));
  }
  const items = short as readonly Json[];
  return { items, count: items.length };
}

function shortened(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).slice(0, keptItems).map(shortened);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}
