import {
  closest,
  type InputError,
  inputError,
  pass,
  type Result,
  refuse,
  shellLine,
} from 'market-mcp-contract/command';
import { estimatedTokens, signals } from 'market-mcp-contract/definition';
import {
  grouped,
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  pointerSegments,
  propertiesOf,
  requiredOf,
  schemasIn,
  valueAt,
} from 'market-mcp-contract/json';
import { budgets } from 'market-mcp-contract/report';
import { fixDefinitions, fixMap } from '../fixes/definitions.ts';
import { Fixes } from '../fixes/fixes.ts';
import type { DefinitionChange } from '../model/tool-model.ts';
import { contentsOf, outputWithoutSignals } from './describe.ts';
import type { ImportedTool } from './imported-tool.ts';
import { splitToolPrefix } from './tool-prefix.ts';

/** A place in an answer that an author can choose. */
export interface AnswerField {
  /** `owner.login`, `items[].id`; `rates.*.usd`, where the keys of a map are data. */
  readonly path: string;
  readonly schema: JsonObject;
}

/** The fields of an imported tool's answer, those of the root first; without the signals, which every tool has. */
export function fieldsOf(tool: ImportedTool): readonly AnswerField[] {
  return choosable(fieldLocations(resolveOutput(tool).schema));
}

/** The estimated tokens of an imported definition, as agents read it. */
export function tokensOf({ entry }: ImportedTool): number {
  return estimatedTokens(JSON.stringify(entry));
}

/**
 * Tools whose answers have only the chosen fields: in the outputSchema, in the sample data, and in each answer at run time.
 *
 * @param requestedFields `id,owner.login` for one tool, `get_repo:id,owner.login` for one of several; empty for all fields
 * @returns an error for each unknown tool and field
 */
export function withFields(
  tools: readonly ImportedTool[],
  requestedFields: readonly string[],
): Result<readonly ImportedTool[]> {
  const errors: InputError[] = [];
  const paths = new Map<ImportedTool, string[]>();
  for (const text of requestedFields) {
    const tool = splitToolPrefix(tools, text, '--fields');
    if (!tool.ok) {
      errors.push(...tool.errors);
      continue;
    }
    const { named: namedTool, rest } = tool.value;
    const names = rest.split(',').map((name) => name.trim());
    paths.set(namedTool, [...(paths.get(namedTool) ?? []), ...names]);
  }
  const reduced = tools.map((tool): ImportedTool => {
    const requestedPaths = paths.get(tool);
    const result = requestedPaths
      ? withChosenFields(tool, [...new Set(requestedPaths)])
      : pass(withAllFields(tool));
    if (result.ok) return { ...result.value, advice: sizeAdvice(result.value) };
    errors.push(...result.errors);
    return tool;
  });
  if (errors.length > 0) return refuse(...errors);
  return pass(reduced);
}

/** The description with the names of the chosen fields, where it lists those of the whole answer. */
function descriptionOfFields(
  { entry }: ImportedTool,
  wholeSchema: JsonObject,
  chosenSchema: JsonObject,
): JsonObject {
  const [before, after] = [wholeSchema, chosenSchema].map((schema) =>
    contentsOf(outputWithoutSignals(schema)),
  );
  const { description } = entry as JsonObject;
  if (typeof description !== 'string' || !before || !after) return {};
  return { description: description.replace(before, () => after) };
}

/** How to shorten a definition by choosing fields; empty if it is within the limit or has none to choose from. */
function sizeAdvice(tool: ImportedTool): readonly InputError[] {
  const { entry, fields } = tool;
  const tokens = fields === undefined ? 0 : tokensOf(tool);
  if (tokens <= budgets.tool) return [];
  const allFields = fieldsOf(tool);
  const scalarFields = allFields.filter(({ schema }) => membersAt(schema, '').length === 0).slice(0, 3);
  const flag = shellLine(['--fields', `${entry.name}:${scalarFields.map(({ path }) => path).join(',')}`]);
  const message = `has ${grouped(allFields.length)} fields, and the tool about ${grouped(tokens)} tokens; agents read all of them`;
  const hint = `Keep only what callers need, such as ${flag}. The rest of each answer is dropped.`;
  return [inputError(`${entry.name}.outputSchema`, undefined, message, hint)];
}

/** A tool with all fields, of which some can be chosen if there are several. */
function withAllFields(tool: ImportedTool): ImportedTool {
  if (fieldsOf(tool).length > 1) return { ...tool, fields: [] };
  return tool;
}

/** A tool with only some fields of its answer. */
function withChosenFields(tool: ImportedTool, requestedPaths: readonly string[]): Result<ImportedTool> {
  const { schema, fixes } = resolveOutput(tool);
  if (fixes.errors.length > 0) return refuse(...fixes.errors);
  const places = fieldLocations(schema);
  const name = String(tool.entry.name);
  const paths = requestedPaths.map((path) => path.replace(/(\[\]|\.\*)+$/, ''));
  const unknown = paths.filter((path) => !places.has(path));
  if (unknown.length > 0) return refuse(...unknown.map((path) => unknownField(path, name, places)));
  const keptPaths = new Set(paths);
  const leading = new Set<string>(['']);
  for (const path of keptPaths)
    for (let at = places.get(path)?.parentPath; at !== undefined; at = places.get(at)?.parentPath)
      leading.add(at);
  const choice = {
    isWhole: (path: string) => keptPaths.has(path),
    contains: (path: string) => leading.has(path),
  };
  const reducedOutput = reducedSchema(schema, '', choice);
  const declaredSignals = Object.entries(signals).filter(([signal]) =>
    Object.hasOwn(membersOf(schema), signal),
  );
  const outputSchema = {
    ...reducedOutput,
    properties: { ...Object.fromEntries(declaredSignals), ...membersOf(reducedOutput) },
  };
  const brokenReference = [...schemasIn(outputSchema, '')].find(
    ({ schema: { $ref } }) =>
      typeof $ref === 'string' && valueAt(outputSchema, pointerSegments($ref)) === undefined,
  );
  if (brokenReference) {
    const target = String(brokenReference.schema.$ref).replace('#/properties/', '');
    const hint = `Choose ${target} too, or leave out what refers to it.`;
    return refuse(
      inputError('--fields', requestedPaths.join(','), `contains a reference to ${target}`, hint),
    );
  }
  const reduced = {
    ...tool,
    entry: {
      ...tool.entry,
      outputSchema,
      ...descriptionOfFields(tool, schema, reducedOutput),
    } as ImportedTool['entry'],
    sampleAnswers: tool.sampleAnswers.map((answer) => reducedValue(answer, '', choice) as JsonObject),
    ...(tool.exchanges && {
      exchanges: tool.exchanges.map((exchange) => ({
        ...exchange,
        answer: exchange.answer && (reducedValue(exchange.answer, '', choice) as JsonObject),
      })),
    }),
    fields: [...keptPaths],
  };
  const change: DefinitionChange = {
    tool: name,
    path: 'outputSchema',
    what: `has ${fieldsOf(reduced).length} of ${fieldsOf(tool).length} fields: about ${grouped(tokensOf(reduced))} tokens instead of ${grouped(tokensOf(tool))}`,
    why: 'chosen by --fields',
  };
  return pass({ ...reduced, changes: [...tool.changes, ...fixes.changes, change] });
}

/** The outputSchema with its definitions written out, so that each field has one place. */
function resolveOutput({ entry }: ImportedTool): { readonly schema: JsonObject; readonly fixes: Fixes } {
  const fixes = new Fixes(String(entry.name), String(entry.name));
  const { outputSchema } = entry as { readonly outputSchema?: Json };
  const schema = isObject(outputSchema) ? outputSchema : {};
  return { schema: fixDefinitions(fixMap(schema, fixes), fixes), fixes };
}

interface LocatedField extends AnswerField {
  /** Path of the object, list or map that contains it; empty for the root. */
  readonly parentPath: string;
}

/** Every place inside a schema by its path, those nearer to the root first; items of lists (`items[]`) and values of maps, too. */
function fieldLocations(root: JsonObject): ReadonlyMap<string, LocatedField> {
  const places = new Map<string, LocatedField>();
  let level: readonly AnswerField[] = [{ path: '', schema: root }];
  while (level.length > 0) {
    const next: AnswerField[] = [];
    for (const { path: parentPath, schema } of level) {
      for (const [path, inner] of alternativesOf(schema).flatMap((alternative) =>
        membersAt(alternative, parentPath),
      )) {
        const isSignal = parentPath === '' && isStandardSignal(path, inner);
        if (places.has(path) || isSignal) continue;
        places.set(path, { path, schema: inner, parentPath: parentPath });
        next.push({ path, schema: inner });
      }
    }
    level = next;
  }
  return places;
}

function choosable(places: ReadonlyMap<string, LocatedField>): readonly AnswerField[] {
  return [...places.values()].filter(({ path }) => !/(\[\]|\.\*)$/.test(path));
}

function isStandardSignal(name: string, schema: JsonObject): boolean {
  const signalSchemas: JsonObject = signals;
  return Object.hasOwn(signalSchemas, name) && JSON.stringify(signalSchemas[name]) === JSON.stringify(schema);
}

const unions = ['anyOf', 'oneOf', 'allOf'] as const;

/** A schema and those that it combines. */
function alternativesOf(schema: JsonObject): readonly JsonObject[] {
  const parts = unions.flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : []));
  return [schema, ...parts.filter(isObject).flatMap(alternativesOf)];
}

/** The members of one schema and their paths. */
function membersAt(schema: JsonObject, path: string): readonly (readonly [string, JsonObject])[] {
  const { items, additionalProperties: mapValues } = schema;
  return [
    ...propertiesOf(schema).map(([name, inner]) => [fieldPath(path, name), inner] as const),
    ...(isObject(items) ? [[`${path}[]`, items] as const] : []),
    ...(isObject(mapValues) ? [[fieldPath(path, '*'), mapValues] as const] : []),
  ];
}

function fieldPath(parentPath: string, name: string): string {
  if (parentPath === '') return name;
  return `${parentPath}.${name}`;
}

interface Choice {
  isWhole(path: string): boolean;
  /** Whether a chosen field is inside. */
  contains(path: string): boolean;
}

/** Keywords of an object that hold whatever members it has. */
const kindKeywords = ['type', 'nullable', 'title', 'description'];

/** A schema without the members that were not chosen, and without keywords that may depend on these. */
function reducedSchema(schema: JsonObject, path: string, choice: Choice): JsonObject {
  const members = membersAt(schema, path);
  const isLeaf = members.length === 0 && unions.every((keyword) => schema[keyword] === undefined);
  if (choice.isWhole(path) || isLeaf) return schema;
  const keptMembers = new Map(
    members
      .filter(([at]) => choice.isWhole(at) || choice.contains(at))
      .map(([at, inner]) => [at, reducedSchema(inner, at, choice)]),
  );
  const at = (name: string) => fieldPath(path, name);
  const properties = Object.keys(membersOf(schema)).flatMap((name) => {
    const inner = keptMembers.get(at(name));
    if (inner) return [[name, inner] as const];
    return [];
  });
  const alternatives = (keyword: (typeof unions)[number]) =>
    Array.isArray(schema[keyword])
      ? schema[keyword].map((alternative: Json) =>
          isObject(alternative) ? reducedSchema(alternative, path, choice) : alternative,
        )
      : undefined;
  const [items, mapValues] = [keptMembers.get(`${path}[]`), keptMembers.get(at('*'))];
  // Without their distinctive members, several alternatives may match.
  const [anyOf, allOf] = [alternatives('anyOf') ?? alternatives('oneOf'), alternatives('allOf')];
  return {
    ...Object.fromEntries(Object.entries(schema).filter(([keyword]) => kindKeywords.includes(keyword))),
    ...(schema.properties !== undefined && {
      properties: Object.fromEntries(properties),
      required: requiredOf(schema).filter((name) => keptMembers.has(at(name))),
    }),
    ...(items && { items }),
    ...(mapValues && { additionalProperties: mapValues }),
    ...(anyOf && { anyOf }),
    ...(allOf && { allOf }),
  };
}

/** An answer without the members that were not chosen. */
function reducedValue(value: Json, path: string, choice: Choice): Json {
  if (choice.isWhole(path)) return value;
  if (Array.isArray(value)) return value.map((item) => reducedValue(item, `${path}[]`, choice));
  if (!isObject(value)) return value;
  const keptMembers = Object.entries(value).flatMap(([name, member]) => {
    const at = [fieldPath(path, name), fieldPath(path, '*')].find(
      (candidate) => choice.isWhole(candidate) || choice.contains(candidate),
    );
    if (at === undefined) return [];
    return [[name, reducedValue(member, at, choice)] as const];
  });
  return Object.fromEntries(keptMembers);
}

/** The nearest field: of the same object, else one whose path ends like this. */
function unknownField(path: string, tool: string, places: ReadonlyMap<string, LocatedField>): InputError {
  const choosablePaths = choosable(places).map((place) => place.path);
  const withoutBrackets = (pathText: string) => pathText.replaceAll('[]', '');
  const near =
    choosablePaths.find(
      (candidate) => withoutBrackets(candidate).toLowerCase() === withoutBrackets(path).toLowerCase(),
    ) ??
    closest(path, choosablePaths) ??
    choosablePaths.find((candidate) => withoutBrackets(candidate).endsWith(`.${withoutBrackets(path)}`));
  const morePaths = choosablePaths.length > 8 ? ` and ${choosablePaths.length - 8} more` : '';
  const hint = near
    ? `Did you mean ${near}?`
    : `Its fields are ${choosablePaths.slice(0, 8).join(', ')}${morePaths}. Members of lists are named items[].id.`;
  return inputError('--fields', path, `is not a field of ${tool}`, hint);
}
