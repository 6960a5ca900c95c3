import { lacksData, signals, type ToolDefinition } from 'market-mcp-contract/definition';
import { compileSchema, isObject, type Json, type JsonObject, typesOf } from 'market-mcp-contract/json';
import type { ApiCall, BoundValue, CheckedTool } from '../import/imported-tool.ts';
import { toolFile } from '../model/names.ts';
import type { Sample } from '../model/tool-model.ts';
import type { PlannedFile } from './planned-file.ts';

export const toolsDirectory = 'src/tools';
export const testsDirectory = 'test/tools';

/** Paths of a tool's file and test. */
export function toolPaths(file: string): { readonly path: string; readonly test: string } {
  return { path: `${toolsDirectory}/${file}.ts`, test: `${testsDirectory}/${file}.test.ts` };
}

/** The files of one tool: its source and its test. After creation, both belong to the author. */
export function planTool(tool: CheckedTool): readonly PlannedFile[] {
  const context = toolContext(tool);
  const { path, test } = toolPaths(context.file);
  const template = tool.call ? 'tool/api-tool.ts.hbs' : 'tool/tool.ts.hbs';
  return [
    { path, template, context, owner: 'yours' },
    { path: test, template: 'tool/test.ts.hbs', context, owner: 'yours' },
  ];
}

/** The context of `templates/tool/`: the members of a request are set only if the tool calls an API. */
export function toolContext(tool: CheckedTool) {
  const { definition, keyParameter, samples, examples, call } = tool;
  const { name, description, inputSchema, outputSchema, ...otherMembers } = definition;
  const hasInput = isObject(inputSchema.properties) && Object.keys(inputSchema.properties).length > 0;
  const takes = call !== undefined && (call.method === 'call' ? hasInput : takesInput(call));
  const example = examples.find(({ expect }) => expect === 'found') ?? examples[0];
  const valid = example?.arguments ?? {};
  return {
    name,
    file: toolFile(name),
    description,
    inputSchema,
    outputSchema,
    /** Names of the output properties that `...signals` replaces; empty if it cannot. */
    standardSignals: standardSignals(outputSchema),
    /** The definition's other members, such as `_meta`. */
    others: Object.entries(otherMembers).map(([member, value]) => ({ name: member, value })),
    examples,
    hasInput,
    /** The parameter that selects a sample; null if no parameter can. */
    key: keyParameter === null ? null : keyContext(definition, keyParameter, samples),
    /** The answer to every call of a tool without a key parameter. */
    sample: samples[0]?.answer ?? {},
    tests: {
      valid,
      /** Arguments that the inputSchema refuses; null if it accepts everything. */
      invalid: invalidVariant(inputSchema, valid),
      /** An answer that the outputSchema refuses. */
      wrongAnswer: wrongAnswer(outputSchema, samples[0]?.answer ?? {}),
    },
    asksApi: call !== undefined,
    /** Whether such a tool may change something, so that it may have no recordings. */
    writes: call !== undefined && !isReadOnly(otherMembers),
    ...(call && {
      api: call.api.file,
      method: call.method,
      /** Path of the request, or name of the remote tool. */
      target: call.method === 'call' ? call.path.slice(1) : call.path,
      operation: operationOf(call),
      /** Whether the request uses the arguments. */
      takesInput: takes,
      call: {
        ...call,
        isReadOnly: isReadOnly(otherMembers),
        takesInput: takes,
        takesNoData: isReadOnly(otherMembers) && findsData(tool),
        isReduced: (tool.fields ?? []).length > 0,
        hasMirrors: call.api.protocolVersion !== undefined && hasMirrors(inputSchema),
      },
    }),
  };
}

/** Whether the answers of a tool that are made up contain data: then a response without data is an empty result. */
function findsData({ definition, samples, exchanges }: CheckedTool): boolean {
  if (exchanges) return true;
  return !samples.some(({ key, answer }) => lacksData(definition.outputSchema, answer, [key]));
}

function operationOf({ method, path, api }: ApiCall): string {
  if (method === 'call') return `the tool ${path.slice(1)} of ${api.title}`;
  return `${method.toUpperCase()} ${path} of ${api.title}`;
}

/** Whether a tool declares that it changes nothing. */
function isReadOnly({ annotations }: Pick<ToolDefinition, 'annotations'>): boolean {
  return annotations?.readOnlyHint === true;
}

/** Whether headers repeat arguments of a tool. */
function hasMirrors(inputSchema: JsonObject): boolean {
  return JSON.stringify(inputSchema).includes('"x-mcp-header":');
}

function takesInput({ params, query, headers, body }: ApiCall): boolean {
  return [...params, ...query, ...headers, ...(body ? [body.content] : [])].some(isFilled);
}

function isFilled({ input, members = [] }: BoundValue): boolean {
  return input !== undefined || members.some(isFilled);
}

/** `...signals` replaces the standard signals only if all four are declared. */
function standardSignals({ properties }: JsonObject): readonly string[] {
  const signalEntries = Object.entries(signals);
  if (!isObject(properties) || !signalEntries.every(([name]) => Object.hasOwn(properties, name))) return [];
  const isStandard = (name: string, schema: object) =>
    JSON.stringify(properties[name]) === JSON.stringify(schema);
  return signalEntries.filter(([name, schema]) => isStandard(name, schema)).map(([name]) => name);
}

function keyContext({ inputSchema }: ToolDefinition, name: string, samples: readonly Sample[]) {
  const required = Array.isArray(inputSchema.required) && inputSchema.required.includes(name);
  const property = isObject(inputSchema.properties) ? inputSchema.properties[name] : undefined;
  const present = required || (isObject(property) && property.default !== undefined);
  const type = isObject(property) && property.type === 'string' ? 'string' : 'number';
  const types = new Set([type, ...samples.filter(({ key }) => key !== null).map(({ key }) => typeof key)]);
  return {
    name,
    /** TypeScript type of the keys; with `undefined` if the argument may be absent. */
    type: [...types, ...(present ? [] : ['undefined'])].join(' | '),
    /** Pairs of key and answer; the key of an absent argument is null. */
    entries: samples.filter(({ key }) => key !== null || !present).map(({ key, answer }) => [key, answer]),
  };
}

/** A valid value with one property made invalid, as validated by the schema. */
function invalidVariant(schema: JsonObject, valid: JsonObject): JsonObject | null {
  const validate = compileSchema(schema);
  return mutations(schema, valid).find((changed) => !validate(changed)) ?? null;
}

/** If no wrong property makes an answer invalid, an array does: the root is an object. */
function wrongAnswer(schema: JsonObject, answer: JsonObject): Json {
  return invalidVariant(schema, answer) ?? [];
}

function mutations(schema: JsonObject, value: JsonObject): JsonObject[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).flatMap(([name, property]) => {
    const types = isObject(property) ? typesOf(property) : [];
    const wrongValues = types.includes('string') ? [42, { wrong: true }] : ['wrong', 42, { wrong: true }];
    return wrongValues.map((wrongValue) => ({ ...value, [name]: wrongValue }));
  });
}
