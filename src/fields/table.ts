import { clip } from 'market-mcp-contract/command';
import {
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  requiredOf,
  typesOf,
} from 'market-mcp-contract/json';

/** One property of a schema in words. */
export interface FieldRow {
  /** Path of the property: `rows[].id`. */
  readonly name: string;
  /** `list of objects`, `integer, 1 to 100`, `string, one of base, ethereum` */
  readonly type: string;
  readonly required: boolean;
  /** Empty if there is none. */
  readonly fallback: string;
  readonly description: string;
}

/**
 * The properties of an object schema and their members as text, an object before its members.
 *
 * @param without names of top-level properties to omit
 */
export function fieldRows(
  schema: JsonObject,
  without: readonly string[] = [],
  parentPath = '',
): readonly FieldRow[] {
  const required = requiredOf(schema);
  return Object.entries(membersOf(schema)).flatMap(([memberName, memberSchema]) => {
    if (without.includes(memberName)) return [];
    const property = isObject(memberSchema) ? memberSchema : {};
    const name = `${parentPath}${memberName}`;
    const { inner, lists } = innermostSchema(property);
    const row = {
      name,
      type: typeInWords(property),
      required: required.includes(memberName),
      fallback: property.default === undefined ? '' : valueText(property.default),
      description: typeof property.description === 'string' ? property.description : '',
    };
    return [row, ...fieldRows(inner, [], `${name}${'[]'.repeat(lists)}.`)];
  });
}

/** The headings of a table; a table of outputs has no defaults. */
export interface TableHead {
  readonly name: string;
  readonly required: string;
  readonly hasDefaults: boolean;
}

/** Rows as lines of a table with headings, at most `width` characters wide. */
export function tableLines(
  rows: readonly FieldRow[],
  { name, required, hasDefaults }: TableHead,
  width: number,
): readonly string[] {
  const head = [name, 'Type', required, ...(hasDefaults ? ['Default'] : []), 'Description'];
  const cells = rows.map((row) => [
    row.name,
    row.type,
    row.required ? 'yes' : 'no',
    ...(hasDefaults ? [row.fallback] : []),
    row.description,
  ]);
  const tableRows = [head, ...cells].map((row) => row.map((cell) => cell.replaceAll(/\s+/g, ' ')));
  const widths = head.map((_, column) =>
    Math.min(widest, Math.max(...tableRows.map((row) => [...(row[column] ?? '')].length))),
  );
  const lined = (row: readonly string[]) =>
    row.map((cell, column) => padded(cell, widths[column] ?? 0, column === row.length - 1)).join('  ');
  return tableRows.map((row) => clip(lined(row).trimEnd(), width));
}

/** Maximum width of every column but the last. */
const widest = 32;

function padded(cell: string, width: number, isLast: boolean): string {
  if (isLast) return cell;
  const clippedCell = clip(cell, width);
  return clippedCell + ' '.repeat(Math.max(0, width - [...clippedCell].length));
}

/** The value inside all lists. */
function innermostSchema(schema: JsonObject): { readonly inner: JsonObject; readonly lists: number } {
  if (!isObject(schema.items)) return { inner: schema, lists: 0 };
  const { inner, lists } = innermostSchema(schema.items);
  return { inner, lists: lists + 1 };
}

function typeInWords(schema: JsonObject): string {
  const types = typesOf(schema).map(String);
  const typeNames = types.filter((type) => type !== 'null');
  const { enum: allowedValues, minimum, maximum, format, pattern, items } = schema;
  const head = isObject(items) ? `list of ${plural(typeInWords(items))}` : typeNames.join(' or ') || 'any';
  const nullable = types.includes('null') && typeNames.length > 0 ? [' or null'] : [];
  const values = Array.isArray(allowedValues) ? allowedValues.filter((value) => value !== null) : undefined;
  return [
    `${head}${nullable}`,
    ...(values ? [`one of ${values.map(valueText).join(', ')}`] : []),
    ...rangeInWords(minimum, maximum),
    ...(typeof format === 'string' ? [format] : []),
    ...(typeof pattern === 'string' ? [`/${pattern}/`] : []),
  ].join(', ');
}

function rangeInWords(minimum: Json | undefined, maximum: Json | undefined): readonly string[] {
  if (typeof minimum === 'number' && typeof maximum === 'number') return [`${minimum} to ${maximum}`];
  if (typeof minimum === 'number') return [`${minimum} or more`];
  if (typeof maximum === 'number') return [`${maximum} or less`];
  return [];
}

/** `string, one of a, b` → `strings, one of a, b`; `list of strings` → `lists of strings` */
function plural(words: string): string {
  if (words.startsWith('list of')) return words.replace('list', 'lists');
  return words.replace(/^\w+/, '$&s');
}

function valueText(value: Json): string {
  if (typeof value === 'string' && value !== '') return value;
  return JSON.stringify(value);
}
