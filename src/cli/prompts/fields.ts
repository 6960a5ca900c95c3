import { fault, refuse } from '../../spec/fault.ts';
import { formatFields } from '../../spec/field-language.ts';
import { parseValue, parseValues } from '../../spec/field-values.ts';
import { type Field, type FieldType, type Result, type Shape, scalarTypes } from '../../spec/model.ts';
import { parseFieldName } from '../../spec/names.ts';
import { parseText } from '../../spec/text.ts';
import type { Asker } from './asker.ts';

/** How a parameter and a field of the answer are asked for. */
export interface FieldKind {
  /** `parameter` */
  readonly noun: string;
  /** `--input` */
  readonly flag: string;
  /** `Must symbol be given?` */
  isRequired(path: string): string;
  /** Only parameters have defaults. */
  readonly hasDefault: boolean;
}

/** Members of members are the last that prompts ask for; deeper ones take a spec file. */
const deepest = 2;
type ListOf = `${(typeof scalarTypes)[number] | 'object'}[]`;

/** Asks for a list of fields, with a suggestion that Enter takes. */
export async function askFields(
  asker: Asker,
  message: string,
  kind: FieldKind,
  suggested: readonly Field[],
): Promise<readonly Field[]> {
  const suggestion = suggested.map(({ name }) => name).join(', ');
  const take = { value: 'suggested', label: 'As suggested', hint: suggestion } as const;
  const ask = { value: 'ask', label: `Describe each ${kind.noun}` } as const;
  const none = { value: 'none', label: 'Nothing' } as const;
  const way = await asker.choose(message, [
    ...(suggested.length > 0 ? [take] : kind.hasDefault ? [none] : []),
    ask,
    ...(suggested.length > 0 && kind.hasDefault ? [none] : []),
  ]);
  if (way === 'none') return [];
  if (way === 'suggested') {
    asker.show(`As ${kind.flag} says it`, formatFields(suggested));
    return suggested;
  }
  return askMembers(asker, kind, '', 0);
}

/** Asks for one field after the other. */
async function askMembers(
  asker: Asker,
  kind: FieldKind,
  above: string,
  depth: number,
): Promise<readonly Field[]> {
  const fields: Field[] = [];
  do fields.push(await askField(asker, kind, above, depth, fields));
  while (await asker.confirm(`Another ${kind.noun}${above && ` of ${above}`}?`, false));
  return fields;
}

async function askField(
  asker: Asker,
  kind: FieldKind,
  above: string,
  depth: number,
  siblings: readonly Field[],
): Promise<Field> {
  const name = await asker.text({
    message: `Name of the ${kind.noun}${above && ` of ${above}`}`,
    placeholder: 'symbol',
    parse: (text) => ownName(text, siblings, kind.flag),
  });
  const path = above === '' ? name : `${above}.${name}`;
  const type = await asker.choose(`Type of ${path}`, typeChoices(depth));
  const description = await asker.text({
    message: `What does ${path} say?`,
    placeholder: 'in words, with its unit',
    initial: { text: '', value: '' },
    parse: (text) => parseText(text, kind.flag),
  });
  const required = await asker.confirm(kind.isRequired(path), true);
  const bare = await withMembers(asker, shapeOf(type), kind, path, depth);
  const shape = depth === 0 || !kind.hasDefault ? await askValues(asker, bare, kind, path) : bare;
  return { name, ...(required && { required }), ...shape, ...(description !== '' && { description }) };
}

function ownName(text: string, siblings: readonly Field[], flag: string): Result<string> {
  const name = text.trim();
  if (!siblings.some((sibling) => sibling.name === name)) return parseFieldName(name, flag);
  return refuse(fault(flag, name, 'is there already', 'Give it another name.'));
}

function typeChoices(depth: number) {
  const bases = depth < deepest ? ([...scalarTypes, 'object'] as const) : scalarTypes;
  return [
    ...bases.map((type) => ({ value: type, label: type === 'object' ? 'object with members' : type })),
    ...bases.map((type) => ({
      value: `${type}[]` as ListOf,
      label: type === 'object' ? 'list of objects' : `list of ${type}s`,
    })),
  ];
}

function shapeOf(type: FieldType | ListOf): Shape {
  if (!type.endsWith('[]')) return { type: type as FieldType };
  return { type: 'array', items: { type: type.slice(0, -2) as FieldType } };
}

async function withMembers(
  asker: Asker,
  shape: Shape,
  kind: FieldKind,
  path: string,
  depth: number,
): Promise<Shape> {
  if (shape.items) return { ...shape, items: await withMembers(asker, shape.items, kind, path, depth) };
  if (shape.type !== 'object') return shape;
  return { ...shape, fields: await askMembers(asker, kind, path, depth + 1) };
}

/** Allowed values, default and examples; each must fit those before. */
async function askValues(asker: Asker, bare: Shape, kind: FieldKind, path: string): Promise<Shape> {
  const nothing = { text: '', value: undefined };
  let shape = bare;
  if (bare.type !== 'object' && bare.type !== 'array' && bare.type !== 'boolean') {
    const allowed = await asker.text({
      message: `Allowed values of ${path}`,
      placeholder: 'all; or a | b | c',
      initial: nothing,
      parse: (text) => parseValues(text, bare, kind.flag),
    });
    if (allowed) shape = { ...shape, enum: [...new Set(allowed)] };
  }
  if (kind.hasDefault) {
    const fallback = await asker.text({
      message: `Default of ${path}`,
      placeholder: 'none',
      initial: nothing,
      parse: (text) => parseValue(text, shape, kind.flag),
    });
    if (fallback !== undefined) shape = { ...shape, default: fallback };
  }
  if (shape.enum || bare.type === 'boolean' || (bare.items ?? bare).type === 'object') return shape;
  const examples = await asker.text({
    message: `Examples of ${path}`,
    placeholder: 'none; or a | b',
    initial: nothing,
    parse: (text) => parseValues(text, shape, kind.flag),
  });
  return examples ? { ...shape, examples } : shape;
}
