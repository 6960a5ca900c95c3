import type { JsonObject, ToolDefinition } from '../contract/model.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { isObject, shorten, tryCompile } from '../contract/schema.ts';
import { isReadable } from '../contract/walk.ts';
import { fault, pass, refuse } from './fault.ts';
import { mendDialect } from './mend-dialect.ts';
import { inputOf, mendInput } from './mend-input.ts';
import { mendOutput } from './mend-output.ts';
import { Mending } from './mending.ts';
import type { Change, Result } from './model.ts';
import { parseToolName } from './names.ts';

export interface Mended {
  readonly definition: ToolDefinition;
  readonly changes: readonly Change[];
}

const known = ['name', 'description', 'inputSchema', 'outputSchema', '_meta'];

/**
 * Takes over a plain MCP tool definition: as it is where the contract allows, changed where it must be, with every
 * change listed. Mending what was mended changes nothing.
 *
 * @param where path of the definition, for the faults
 * @returns the definition, or a fault for each part that cannot be mended
 */
export function mend(given: JsonObject, smoke: PlatformProfile['smoke'], where: string): Result<Mended> {
  if (!isReadable(given)) {
    return refuse(fault(where, undefined, 'is larger than a definition can be', 'Simplify its schemas.'));
  }
  const mending = new Mending(typeof given.name === 'string' ? given.name : where, where);
  const name = nameOf(given, where, mending);
  const description = descriptionOf(given, mending);
  const _meta = metaOf(given, mending);
  for (const key of Object.keys(given).filter((key) => !known.includes(key))) {
    mending.change(key, `${shorten(given[key])} was left out`, 'it is no field of the contract (C§2.1)');
  }
  const input = inputOf(given, mending);
  const output = outputOf(given, mending);
  const inputSchema = input && compiled(mendDialect(input, 'inputSchema', mending), 'inputSchema', mending);
  const outputSchema =
    output && compiled(mendDialect(output, 'outputSchema', mending), 'outputSchema', mending);
  const definition = {
    name,
    description,
    inputSchema: inputSchema ? mendInput(inputSchema, smoke, mending) : {},
    outputSchema: outputSchema ? mendOutput(outputSchema, mending) : {},
    ...(_meta && { _meta }),
  };
  return mending.faults.length > 0
    ? refuse(...mending.faults)
    : pass({ definition, changes: mending.changes });
}

function nameOf({ name }: JsonObject, where: string, mending: Mending): string {
  if (typeof name !== 'string') {
    mending.fault(
      'name',
      name,
      name === undefined ? 'is missing' : 'is no text',
      'Write a name, such as get_price.',
    );
    return '';
  }
  const parsed = parseToolName(name, `${where}.name`);
  if (!parsed.ok) mending.faults.push(...parsed.faults);
  return name;
}

function descriptionOf({ description }: JsonObject, mending: Mending): string {
  if (typeof description === 'string' && description.trim() !== '') return description;
  mending.fault(
    'description',
    description,
    typeof description === 'string' || description === undefined ? 'is missing' : 'is no text',
    'Write what the tool returns and when to use it.',
  );
  return '';
}

function metaOf({ _meta }: JsonObject, mending: Mending): JsonObject | undefined {
  if (_meta === undefined || isObject(_meta)) return _meta;
  mending.fault('_meta', _meta, 'is no object', 'Write an object, or leave it out.');
  return undefined;
}

function outputOf({ outputSchema }: JsonObject, mending: Mending): JsonObject | undefined {
  if (isObject(outputSchema)) return outputSchema;
  mending.fault(
    'outputSchema',
    outputSchema,
    outputSchema === undefined
      ? 'is missing; the marketplace requires it (C§2.1)'
      : 'is no JSON Schema object',
    'Describe the answer: { "type": "object", "properties": { "price": { "type": "number" } } }.',
  );
  return undefined;
}

function compiled(schema: JsonObject, path: string, mending: Mending): JsonObject | undefined {
  const result = tryCompile(schema);
  if (result.ok) return schema;
  if (!mending.hasFaultIn(path)) {
    mending.fault(
      path,
      undefined,
      `does not compile: ${result.reason}`,
      'Make it valid JSON Schema of draft-07.',
    );
  }
  return undefined;
}
