import { isObject } from '../contract/json.ts';
import type { JsonObject, ToolDefinition } from '../contract/model.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { tryCompile } from '../contract/schema.ts';
import { isReadable } from '../contract/walk.ts';
import { fault, pass, refuse } from '../model/input-error.ts';
import type { Change, Result } from '../model/model.ts';
import { parseToolName } from '../model/names.ts';
import { mendDialect } from './dialect.ts';
import { Mending } from './fixes.ts';
import { inputOf, mendInput } from './input.ts';
import { mendOutput } from './output.ts';

export interface Mended {
  readonly definition: ToolDefinition;
  readonly changes: readonly Change[];
}

const known = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'icons',
  '_meta',
];

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
    mending.leaveOut(
      key,
      given[key],
      'it is no field of the contract (C§2.1), nor of a tool that people see',
    );
  }
  const input = inputOf(given, mending);
  const output = outputOf(given, mending);
  const inputSchema = input && compiled(mendDialect(input, 'inputSchema', mending), 'inputSchema', mending);
  const outputSchema =
    output && compiled(mendDialect(output, 'outputSchema', mending), 'outputSchema', mending);
  const definition = {
    name,
    ...displayOf(given, mending),
    description,
    inputSchema: inputSchema ? mendInput(inputSchema, smoke, mending) : {},
    outputSchema: outputSchema ? mendOutput(outputSchema, mending) : {},
    ...hintsOf(given, mending),
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

/** What MCP adds for people and clients is kept where it has the form that MCP gives it, else left out. */
function displayOf({ title }: JsonObject, mending: Mending): Pick<ToolDefinition, 'title'> {
  if (title === undefined) return {};
  if (typeof title === 'string') return { title };
  mending.leaveOut('title', title, 'MCP: it is a text');
  return {};
}

function hintsOf(
  { annotations, icons }: JsonObject,
  mending: Mending,
): Pick<ToolDefinition, 'annotations' | 'icons'> {
  const kept: { annotations?: JsonObject; icons?: readonly JsonObject[] } = {};
  if (isObject(annotations)) kept.annotations = ofForm(annotations, 'annotations', annotationForm, mending);
  else mending.leaveOut('annotations', annotations, 'MCP: it is an object');
  if (Array.isArray(icons) && icons.every((icon) => isObject(icon) && typeof icon.src === 'string')) {
    kept.icons = icons.map((icon, i) => ofForm(icon, `icons[${i}]`, iconForm, mending));
  } else mending.leaveOut('icons', icons, 'MCP: it is a list of objects with a src');
  return kept;
}

type Form = { readonly [name: string]: (value: unknown) => boolean };
const isString = (value: unknown) => typeof value === 'string';
const isBoolean = (value: unknown) => typeof value === 'boolean';

const annotationForm: Form = {
  title: isString,
  readOnlyHint: isBoolean,
  destructiveHint: isBoolean,
  idempotentHint: isBoolean,
  openWorldHint: isBoolean,
};
const iconForm: Form = {
  src: isString,
  mimeType: isString,
  sizes: (value) => Array.isArray(value) && value.every(isString),
  theme: (value) => value === 'light' || value === 'dark',
};

/** The members that MCP knows: clients refuse a whole list for one of the wrong type. */
function ofForm(value: JsonObject, path: string, form: Form, mending: Mending): JsonObject {
  const entries = Object.entries(value).filter(([name, member]) => {
    const isKnown = Object.hasOwn(form, name) && form[name]?.(member) === true;
    if (!isKnown)
      mending.leaveOut(`${path}.${name}`, member, 'MCP knows no such member, or one of another type');
    return isKnown;
  });
  return Object.fromEntries(entries);
}

function metaOf({ _meta }: JsonObject, mending: Mending): JsonObject | undefined {
  if (_meta === undefined || isObject(_meta)) return _meta;
  mending.fault('_meta', _meta, 'is no object', 'Write an object, or leave it out.');
  return undefined;
}

function outputOf({ name, outputSchema }: JsonObject, mending: Mending): JsonObject | undefined {
  if (isObject(outputSchema)) return outputSchema;
  const tool = typeof name === 'string' ? name : '<tool>';
  if (outputSchema === undefined) {
    mending.fault(
      'outputSchema',
      undefined,
      'is missing; the marketplace requires it (C§2.1)',
      `Say what ${tool} returns: --only ${tool} --output 'price:number Price in USD' (repeatable), or write an outputSchema into the file.`,
    );
  } else {
    mending.fault(
      'outputSchema',
      outputSchema,
      'is not a JSON Schema object',
      'Describe the answer: { "type": "object", "properties": { "price": { "type": "number" } } }.',
    );
  }
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
