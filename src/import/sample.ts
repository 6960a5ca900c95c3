import {
  type InputError,
  inputError,
  orList,
  pass,
  type Result,
  refuse,
  reject,
} from 'market-mcp-contract/command';
import { completeHints, type SignalName, signals, titleOf } from 'market-mcp-contract/definition';
import {
  isBlank,
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  objectOr,
  propertiesOf,
  shorten,
  textOr,
} from 'market-mcp-contract/json';
import { fieldsSchema } from '../fields/shape.ts';
import { isMap, mapDescription } from '../fixes/definitions.ts';
import { parseFieldName } from '../model/names.ts';
import type { DefinitionChange, Field } from '../model/tool-model.ts';
import { withSignals } from '../tools/definition.ts';
import { wrapAnswer } from './api-answer.ts';
import type { ImportedTool } from './imported-tool.ts';
import { type SampleHints, schemaOfValues } from './infer.ts';
import { answerRoot, requiredWrap, type Wrap } from './result-root.ts';
import { fieldToDo } from './to-do.ts';

/** An answer of an API: saved in a file, or just received. */
export interface AnswerSample {
  /** Names it in errors: its file, or `the answer`. */
  readonly name: string;
  readonly value: Json;
  /** Integers that a JavaScript number cannot represent, which are texts in the value. */
  readonly largeIntegers?: readonly string[];
}

/** Facts about the tool, in addition to the samples. */
export interface ToolFacts {
  readonly name: string;
  readonly input: readonly Field[];
  /**
   * At run time, the tool returns the answers of an API unchanged. So no member is dropped: an answer that cannot be the root of a
   * result becomes its member `result`.
   */
  readonly returnsApiAnswers?: boolean;
}

/** A tool from samples, and how it wraps their values. */
export interface SampledTool extends ImportedTool {
  readonly wrap: Wrap;
}

/** Items of a list that the sample data keep. */
const keptItems = 3;

/**
 * A tool with answers like the samples. An object is the answer itself. A list becomes `items` and `count`, and a map becomes
 * `result`, because the root of an outputSchema is an object with declared properties (C§2.1).
 *
 * @param describe makes the description from the names of the fields
 * @returns the tool, or an error for each sample that cannot be an answer
 */
export function toolOfSamples(
  samples: readonly AnswerSample[],
  tool: ToolFacts,
  describe: (fields: readonly string[], returns: 'record' | 'list') => string,
): Result<SampledTool> {
  const changes = new Map<string, DefinitionChange>();
  const reportChange: ReportChange = (path, what, reason) => {
    changes.set(`${path} ${what}`, { tool: tool.name, path, what, why: reason });
  };
  const checked = checkSamples(samples, reportChange, tool.returnsApiAnswers);
  if (!checked.ok) return checked;
  const checkedSamples = checked.value;
  const values = checkedSamples.map(({ value }) => value);
  const inferred = schemaOfSamples(checkedSamples, tool.input);
  const { schema, withoutDropped } = tool.returnsApiAnswers
    ? withSignalTypes(inferred)
    : withoutConflicts(inferred, reportChange);
  const wrap = requiredWrap(schema, tool.returnsApiAnswers ? values : []);
  const isMapSchema = isMap(schema);
  const resultDescription = isMapSchema ? mapDescription : fieldToDo('result');
  const rootSchema = answerRoot(schema, wrap, wrap === 'items' ? 'The items found.' : resultDescription);
  if (isMapSchema) {
    const reason =
      'their keys are data, or they have one form; if the keys are fixed names, describe them with --output';
    reportChange('outputSchema', 'the members at the root became a map by key, result', reason);
  }
  if (Object.keys(membersOf(rootSchema)).every((name) => Object.hasOwn(signals, name))) {
    const message = `contains nothing but ${orList(Object.keys(membersOf(inferred)))}, which callers read as a signal`;
    return reject(checkedSamples[0]?.name ?? '', undefined, message, 'Give an answer that contains data.');
  }
  const describedSchema = wrap === null ? rootSchema : objectOr(schema.items ?? schema.additionalProperties);
  return pass({
    entry: {
      name: tool.name,
      title: titleOf(tool.name),
      description: describe(Object.keys(membersOf(describedSchema)), wrap === 'items' ? 'list' : 'record'),
      inputSchema: { type: 'object', ...fieldsSchema(tool.input) },
      outputSchema: withSignals(rootSchema),
      annotations: completeHints(tool.name, undefined),
    },
    sampleAnswers: values.map(
      (value) => wrapAnswer(withoutDropped(shortened(value, schema)), wrap) as JsonObject,
    ),
    changes: [...changes.values()],
    wrap,
  });
}

/**
 * Checks that samples can be answers of one tool, and drops members whose names no field can have.
 *
 * @returns an error for each sample that cannot be an answer
 */
export function checkSamples(
  uncheckedSamples: readonly AnswerSample[],
  reportChange: ReportChange,
  returnsApiAnswers = false,
): Result<readonly AnswerSample[]> {
  const samples = uncheckedSamples.map((sample) => ({
    ...sample,
    value: withoutInvalidNames(sample.value, 'samples', (path, member, reason) =>
      reportChange(path, `${shorten(member)} was dropped`, reason),
    ),
  }));
  const errors = samples.flatMap((sample) => sampleErrors(sample, returnsApiAnswers));
  if (errors.length > 0) return refuse(...errors);
  const list = samples.find(({ value }) => Array.isArray(value));
  if (list && samples.some(({ value }) => isObject(value))) {
    const hint = 'Give samples of the same kind: all lists, or all objects.';
    return reject(list.name, undefined, 'is a list, but another sample is an object', hint);
  }
  for (const { name, largeIntegers: [first, ...otherPaths] = [] } of samples) {
    if (first === undefined) continue;
    const morePaths = otherPaths.length > 0 ? ` and ${otherPaths.length} more` : '';
    const reason =
      'a number in JavaScript is exact up to 9007199254740991 only: such an integer arrives as text';
    reportChange(name, `${first}${morePaths} became text`, reason);
  }
  return pass(samples);
}

/** The schema of answers like the samples. @param input of the tool, whose values may be keys of maps */
export function schemaOfSamples(samples: readonly AnswerSample[], input: readonly Field[] = []): JsonObject {
  const hints: SampleHints = {
    inputs: inputValues(input),
    largeIntegers: new Set(samples.flatMap(({ largeIntegers = [] }) => largeIntegers)),
  };
  const values = samples.map(({ value }) => value);
  return schemaOfValues(values, { isRoot: true, hints });
}

function sampleErrors({ name, value }: AnswerSample, returnsApiAnswers: boolean): readonly InputError[] {
  if (!isObject(value) && !Array.isArray(value)) {
    if (returnsApiAnswers) return [];
    return [inputError(name, value, 'cannot be the result of a tool', 'Give a JSON object or a list.')];
  }
  const hint = 'Give an answer that contains data.';
  if (Object.keys(value).length === 0) {
    return [inputError(name, value, 'is empty, so it shows no fields', hint)];
  }
  if (isObject(value) && isFailureAnswer(value))
    return [inputError(name, value, 'contains only an error of the API', hint)];
  return [];
}

/** A value without the members whose names no field may have, at any depth. */
function withoutInvalidNames(
  value: Json,
  path: string,
  reportDropped: (path: string, name: string, reason: string) => void,
): Json {
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((item) => withoutInvalidNames(item, `${path}[]`, reportDropped));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const parsed = parseFieldName(name, path);
      if (parsed.ok) return [[name, withoutInvalidNames(member, `${path}.${name}`, reportDropped)]];
      reportDropped(path, name, parsed.errors[0]?.message ?? '');
      return [];
    }),
  );
}

/** Values that a caller may pass: keys of an answer may be such values. */
function inputValues(input: readonly Field[]): ReadonlySet<string> {
  const statedValues = input.flatMap(({ default: fallback, examples = [], enum: allowedValues = [] }) => [
    fallback,
    ...examples,
    ...allowedValues,
  ]);
  return new Set(statedValues.flatMap((value) => textOr(value).split(',')).map((text) => text.trim()));
}

type ReportChange = (path: string, what: string, reason: string) => void;

interface AnswerSchema {
  readonly schema: JsonObject;
  /** Returns an answer without the members that the schema has dropped. */
  withoutDropped(value: Json): Json;
}

/** A schema whose members with the names of signals are those signals, if they have their types. */
function withSignalTypes(schema: JsonObject): AnswerSchema {
  const members = propertiesOf(schema).map(([name, member]) => [
    name,
    isSignal(name, member) ? { ...member, type: signals[name as SignalName].type } : member,
  ]);
  const typedSchema = members.length > 0 ? { ...schema, properties: Object.fromEntries(members) } : schema;
  return { schema: typedSchema, withoutDropped: (value: Json) => value };
}

/** A schema without the members that have the name of a signal and not its type. */
function withoutConflicts(answerSchema: JsonObject, reportChange: ReportChange): AnswerSchema {
  const { schema } = withSignalTypes(answerSchema);
  const dropped = propertiesOf(schema)
    .filter(([name, member]) => Object.hasOwn(signals, name) && !isSignal(name, member))
    .map(([name]) => name);
  for (const name of dropped) {
    const reason = `callers read ${name} as the signal of an empty or failed call (C§2.2)`;
    reportChange(`outputSchema.properties.${name}`, `${name} of the samples was dropped`, reason);
  }
  const withoutConflicting = (members: JsonObject) =>
    Object.fromEntries(Object.entries(members).filter(([name]) => !dropped.includes(name)));
  return {
    schema: isObject(schema.properties)
      ? { ...schema, properties: withoutConflicting(schema.properties) }
      : schema,
    withoutDropped: (value) =>
      isObject(value) && isObject(schema.properties) ? withoutConflicting(value) : value,
  };
}

/** Whether a member has the name and the type of a signal, or is null. `error` is never data. */
function isSignal(name: string, { type }: JsonObject): boolean {
  if (!Object.hasOwn(signals, name) || name === 'error') return false;
  return [type ?? []]
    .flat()
    .every((typeName) => typeName === 'null' || typeName === signals[name as SignalName].type);
}

/** Sample data of a schema: lists are truncated so that the tool's source stays readable. */
export function shortened(value: Json, schema: Json | undefined): Json {
  const { items, additionalProperties } = objectOr(schema);
  if (Array.isArray(value)) {
    return (value as readonly Json[]).slice(0, keptItems).map((item) => shortened(item, items));
  }
  if (!isObject(value)) return value;
  const members = membersOf(schema);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      shortened(member, Object.hasOwn(members, name) ? members[name] : additionalProperties),
    ]),
  );
}

/** Members of failures, in lower case without separators. */
const failureMembers = new Set(
  (
    'error errors errormessage errorcode errordescription errortype message messages msg code cod status statuscode success ' +
    'ok response detail details title type instance path timestamp time info reason hint description documentationurl ' +
    'requestid traceid correlationid jsonrpc id'
  ).split(' '),
);

/** Whether an answer of an API says only that the request failed. Its HTTP status may be 200. */
export function isFailureAnswer(answer: JsonObject): boolean {
  const members = new Map(
    Object.entries(answer).map(([name, member]) => [name.toLowerCase().replaceAll(/[^a-z]/g, ''), member]),
  );
  if (/^not_?ok$/i.test(textOr(members.get('message')))) return true;
  const isOnlyFailure = [...members].every(([name, member]) => failureMembers.has(name) || isBlank(member));
  if (!isOnlyFailure) return false;
  const valuesOf = (...names: readonly string[]) => names.map((name) => members.get(name));
  return (
    valuesOf('error', 'errors', 'errormessage').some((error) => !isBlank(error)) ||
    valuesOf('success', 'ok', 'response').some((success) => /^false$/i.test(textOr(success))) ||
    valuesOf('status', 'statuscode', 'code', 'cod').some((status) =>
      /^([45]\d\d|error|fail(ed|ure)?)$/i.test(textOr(status)),
    )
  );
}
