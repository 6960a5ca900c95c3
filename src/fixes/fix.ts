import { pass, type Result, refuse, reject, shellLine } from 'market-mcp-contract/command';
import { completeHints, type ToolDefinition, titleOf } from 'market-mcp-contract/definition';
import { bounds, isObject, isReadable, type JsonObject, shorten, tryCompile } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { parseToolName } from '../model/names.ts';
import type { DefinitionChange } from '../model/tool-model.ts';
import { fixInputReferences } from './definitions.ts';
import { fixDialect } from './dialect-fixes.ts';
import { Fixes } from './fixes.ts';
import { fixInput, requireInput } from './input-fixes.ts';
import { fixOutput } from './output-fixes.ts';

export interface Fixed {
  readonly definition: ToolDefinition;
  readonly changes: readonly DefinitionChange[];
}

const knownMembers = 'name title description inputSchema outputSchema annotations icons _meta'.split(' ');

/**
 * Imports a plain MCP tool definition: unchanged where the contract allows it, else changed, with title and annotations
 * completed and every change listed. Idempotent.
 *
 * @param location path of the definition, for the errors
 * @returns the definition, or an error for each part that cannot be fixed
 */
export function fix(
  sourceDefinition: JsonObject,
  testValues: PlatformProfile['smoke'],
  location: string,
): Result<Fixed> {
  if (!isReadable(sourceDefinition)) {
    const message = `is too large: a definition has at most ${bounds.values} values and ${bounds.levels} levels`;
    return reject(location, undefined, message, 'Shorten its enums, or simplify its schemas.');
  }
  const fixes = new Fixes(
    typeof sourceDefinition.name === 'string' ? sourceDefinition.name : location,
    location,
  );
  const name = requireName(sourceDefinition, location, fixes);
  const description = fixDescription(sourceDefinition, fixes);
  const _meta = fixMeta(sourceDefinition, fixes);
  for (const key of Object.keys(sourceDefinition).filter((key) => !knownMembers.includes(key))) {
    const reason =
      key === 'execution'
        ? 'MCP 2025-11-25: it offers the tool for tasks, which a generated server does not have'
        : 'neither the contract (C§2.1) nor MCP defines this field';
    fixes.drop(key, sourceDefinition[key], reason);
  }
  const input = requireInput(sourceDefinition, fixes);
  const output = requireOutput(sourceDefinition, fixes);
  const inlinedInput = input && fixInputReferences(input, fixes);
  const inputSchema =
    inlinedInput && requireCompilable(fixDialect(inlinedInput, 'inputSchema', fixes), 'inputSchema', fixes);
  const outputSchema =
    output && requireCompilable(fixDialect(output, 'outputSchema', fixes), 'outputSchema', fixes);
  const definition = {
    name,
    title: fixTitle(sourceDefinition, name, fixes),
    description,
    inputSchema: inputSchema ? fixInput(inputSchema, testValues, fixes) : {},
    outputSchema: outputSchema ? fixOutput(outputSchema, fixes) : {},
    ...hintsOf(sourceDefinition, name, fixes),
    ...(_meta && { _meta }),
  };
  if (fixes.errors.length > 0) return refuse(...fixes.errors);
  return pass({ definition, changes: fixes.changes });
}

function requireName({ name }: JsonObject, location: string, fixes: Fixes): string {
  if (typeof name !== 'string') {
    const message = name === undefined ? 'is missing' : 'is not a string';
    fixes.error('name', name, message, 'Write a name, such as get_price.');
    return '';
  }
  const parsed = parseToolName(name, `${location}.name`);
  if (!parsed.ok) fixes.errors.push(...parsed.errors);
  return name;
}

function fixDescription({ description }: JsonObject, fixes: Fixes): string {
  if (typeof description === 'string' && description.trim() !== '') return description;
  const isMissing = typeof description === 'string' || description === undefined;
  const message = isMissing ? 'is missing' : 'is not a string';
  fixes.error('description', description, message, 'Write what the tool returns and when to use it.');
  return '';
}

/** Display members of MCP are kept if they have the form that MCP defines, else omitted. */
function fixTitle({ title, annotations }: JsonObject, name: string, fixes: Fixes): string {
  if (typeof title === 'string' && title.trim() !== '') return title;
  fixes.drop('title', title, 'MCP: it must be a string');
  const annotatedTitle = isObject(annotations) ? annotations.title : undefined;
  const newTitle =
    typeof annotatedTitle === 'string' && annotatedTitle.trim() !== '' ? annotatedTitle : titleOf(name);
  fixes.change('title', `${shorten(newTitle)} was added`, 'MCP: clients show it to people');
  return newTitle;
}

function hintsOf(
  { annotations, icons }: JsonObject,
  name: string,
  fixes: Fixes,
): Pick<ToolDefinition, 'annotations' | 'icons'> {
  const keptMembers: { annotations?: JsonObject; icons?: readonly JsonObject[] } = {};
  if (!isObject(annotations)) fixes.drop('annotations', annotations, 'MCP: it must be an object');
  const ownAnnotations = isObject(annotations)
    ? ofForm(annotations, 'annotations', annotationForm, fixes)
    : {};
  keptMembers.annotations = completeHints(name, ownAnnotations);
  const added = Object.entries(keptMembers.annotations).filter(
    ([hint]) => ownAnnotations[hint] === undefined,
  );
  if (added.length > 0) {
    const addedHints = added.map(([hint, value]) => `${hint}: ${value}`).join(', ');
    const reason = 'MCP: these hints tell clients whether to ask before a call';
    fixes.change('annotations', `${addedHints} was added`, reason);
  }
  if (Array.isArray(icons) && icons.every((icon) => isObject(icon) && typeof icon.src === 'string')) {
    keptMembers.icons = icons.map((icon, i) => ofForm(icon, `icons[${i}]`, iconForm, fixes));
  } else fixes.drop('icons', icons, 'MCP: it must be a list of objects with a src');
  return keptMembers;
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

const unknownMember = 'MCP does not define this member, or defines it with another type';

/** Keeps the members that MCP defines if their types are correct: clients refuse a whole list because of one wrong type. */
function ofForm(value: JsonObject, path: string, form: Form, fixes: Fixes): JsonObject {
  const entries = Object.entries(value).filter(([name, member]) => {
    const isKnown = Object.hasOwn(form, name) && form[name]?.(member) === true;
    if (!isKnown) fixes.drop(`${path}.${name}`, member, unknownMember);
    return isKnown;
  });
  return Object.fromEntries(entries);
}

function fixMeta({ _meta }: JsonObject, fixes: Fixes): JsonObject | undefined {
  if (_meta === undefined || isObject(_meta)) return _meta;
  fixes.error('_meta', _meta, 'is not an object', 'Write an object, or remove it.');
  return undefined;
}

function requireOutput({ name, outputSchema }: JsonObject, fixes: Fixes): JsonObject | undefined {
  if (isObject(outputSchema)) return outputSchema;
  const tool = typeof name === 'string' ? name : '<tool>';
  const flags = shellLine(['--only', tool, '--output', 'price:number Price in USD']);
  const [message, hint] =
    (outputSchema ?? undefined) === undefined
      ? [
          'is missing; the marketplace requires it (C§2.1)',
          `Write an outputSchema into the file, take the text of each such answer (--output-text), or declare what ${tool} returns: ${flags}`,
        ]
      : [
          'is not a JSON Schema object',
          'Describe the result: { "type": "object", "properties": { "price": { "type": "number" } } }.',
        ];
  fixes.error('outputSchema', outputSchema ?? undefined, message, hint);
  return undefined;
}

function requireCompilable(schema: JsonObject, path: string, fixes: Fixes): JsonObject | undefined {
  const result = tryCompile(schema);
  if (result.ok) return schema;
  const hint = 'Correct the schema: it must be valid JSON Schema (draft-07).';
  if (!fixes.hasErrorIn(path)) fixes.error(path, undefined, `does not compile: ${result.reason}`, hint);
  return undefined;
}
