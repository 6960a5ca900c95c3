import { inputError, pass, type Result, refuse, reject, spellingHint } from 'market-mcp-contract/command';
import { isPlaceholder } from 'market-mcp-contract/definition';
import {
  aloneName,
  clientMismatches,
  isObject,
  type Json,
  type JsonObject,
  matchesWithin,
  parseJsonText,
  propertiesOf,
  propertyAlone,
  typesOf,
  withLargeIntegersAsText,
} from 'market-mcp-contract/json';
import type { Field, PreparedTool, SpecEntry } from '../model/tool-model.ts';

/** The author's example for a parameter: of a tool in a spec file, `get_price.symbol=BTC`, or of a request, `symbol=BTC`. */
export interface ExampleValue {
  /** Empty for a request. */
  readonly tool: string;
  readonly parameter: string;
  readonly text: string;
}

const exampleSyntax = /^(?:([^.=]+)\.)?([^.=]+(?:\.[^=]+)?)=(.*)$/s;

export function parseExampleValue(text: string, location: string): Result<ExampleValue> {
  const [, tool = '', parameter, value] = exampleSyntax.exec(text.trim()) ?? [];
  if (parameter === undefined || value === undefined) {
    const hint = "Write <tool>.<parameter>=<value>: 'get_price.symbol=BTC'.";
    return reject(location, text, 'is not an example', hint);
  }
  return pass({ tool, parameter, text: value });
}

export function formatExampleValue({ tool, parameter, text }: ExampleValue): string {
  return `${tool === '' ? '' : `${tool}.`}${parameter}=${text}`;
}

/** A parameter that has only a placeholder. */
export interface MissingExample {
  readonly tool: string;
  readonly parameter: string;
  readonly schema: JsonObject;
  /** The inputSchema, for its definitions. */
  readonly root: JsonObject;
}

/** The parameters of tools whose values are placeholders. */
export function missingExamples(tools: readonly PreparedTool[]): readonly MissingExample[] {
  return tools.flatMap(({ definition: { name, inputSchema } }) =>
    propertiesOf(inputSchema)
      .filter(([, { $comment }]) => isPlaceholder($comment))
      .map(([parameter, { $comment: _, examples: __, ...schema }]) => ({
        tool: name,
        parameter,
        schema,
        root: inputSchema,
      })),
  );
}

/** A text as a value of a parameter: a string parameter takes it unchanged, any other takes JSON. */
export function exampleFor(
  text: string,
  { schema, root }: Pick<MissingExample, 'schema' | 'root'>,
  location: string,
): Result<Json> {
  const types = typesOf(schema);
  const exact = withLargeIntegersAsText(text).text;
  const readings = [
    ...(types.length === 0 || types.includes('string') ? [text] : []),
    ...parseJsonText(exact),
  ];
  const value = readings.find((reading) => matchesWithin(root, schema, reading));
  if (value !== undefined) return pass(value);
  const objectSchema = propertyAlone(root, aloneName, schema);
  const meantValue = readings.findLast((reading) => typeof reading === 'object') ?? readings[0] ?? text;
  const [mismatch] = clientMismatches(objectSchema, { [aloneName]: meantValue }, '');
  const expected = mismatch?.expected ?? 'another value';
  const hint = 'Write a valid value: plain text for a string, else JSON.';
  return reject(location, text, `does not match the parameter: expected ${expected}`, hint);
}

/** The entries with each example added before the existing ones of its parameter. */
export function withExamples(
  entries: readonly SpecEntry[],
  values: readonly ExampleValue[],
  location: string,
): Result<readonly SpecEntry[]> {
  let allEntries = entries;
  for (const value of values) {
    const at = allEntries.findIndex(({ name }) => name === value.tool);
    const entry = allEntries[at];
    if (!entry)
      return refuse(
        unknown(location, value, value.tool, 'is not one of the selected tools', itemNames(allEntries)),
      );
    const changed = withExampleValue(entry, value, location);
    if (!changed.ok) return changed;
    allEntries = allEntries.with(at, changed.value);
  }
  return pass(allEntries);
}

function withExampleValue(entry: SpecEntry, value: ExampleValue, location: string): Result<SpecEntry> {
  const root: JsonObject = 'inputSchema' in entry && isObject(entry.inputSchema) ? entry.inputSchema : {};
  const fields =
    'input' in entry && Array.isArray(entry.input) ? (entry.input as readonly Field[]) : undefined;
  const field = fields?.find(({ name }) => name === value.parameter);
  const schema = field
    ? { type: field.type }
    : propertiesOf(root).find(([name]) => name === value.parameter)?.[1];
  if (!schema) {
    const names = fields ? itemNames(fields) : propertiesOf(root).map(([name]) => name);
    return refuse(unknown(location, value, value.parameter, `is not a parameter of ${value.tool}`, names));
  }
  const example = exampleFor(value.text, { schema, root }, `${location} ${formatExampleValue(value)}`);
  if (!example.ok) return example;
  const withValue = (before: unknown) => [example.value, ...(Array.isArray(before) ? before : [])];
  if (fields && field) {
    const input = fields.map((inputField) =>
      inputField === field ? { ...inputField, examples: withValue(inputField.examples) } : inputField,
    );
    return pass({ ...entry, input } as SpecEntry);
  }
  const changed = { ...schema, examples: withValue((schema as JsonObject).examples) };
  const properties = { ...(root.properties as JsonObject), [value.parameter]: changed };
  return pass({ ...entry, inputSchema: { ...root, properties } } as SpecEntry);
}

function itemNames(namedItems: readonly { readonly name?: unknown }[]): readonly string[] {
  return namedItems.map(({ name }) => String(name));
}

function unknown(
  location: string,
  value: ExampleValue,
  name: string,
  message: string,
  names: readonly string[],
) {
  const hint = spellingHint(name, names, `Known names: ${names.join(', ') || 'none'}.`);
  return inputError(location, formatExampleValue(value), `${name} ${message}`, hint);
}
