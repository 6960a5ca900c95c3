import {
  combineResults,
  type InputError,
  inputError,
  pass,
  type Result,
  refuse,
} from 'market-mcp-contract/command';
import { type Json, shorten } from 'market-mcp-contract/json';
import { parseFieldName } from '../model/names.ts';
import type { Field, Shape } from '../model/tool-model.ts';
import { bareName, type Declaration, type PathStep, parseDeclaration } from './declaration.ts';
import { shapeErrors } from './shape.ts';

/**
 * Parses a list of declarations as fields: `quote.price:number` is a member of `quote`, which need not be declared
 * itself. The order of first mention is kept. docs/field-language.md describes the grammar.
 *
 * @param flag the flag or question that the texts come from, for the errors: `--input`
 */
export function parseFields(texts: readonly string[], flag: string): Result<readonly Field[]> {
  const declarations = combineResults(
    texts.map((text) => checkedDeclaration(text, flagLocation(flag, text))),
  );
  if (!declarations.ok) return declarations;
  const root = new Map<string, Node>();
  const errors = declarations.value.flatMap((declaration, i) =>
    place(root, declaration, flagLocation(flag, texts[i] ?? '')),
  );
  if (errors.length > 0) return refuse(...errors);
  const fields = [...root.values()].map(nodeField);
  // Whatever has no members was checked with its declaration.
  const shapeProblems = fields.flatMap((field, i) =>
    innermostShape(field).members.length > 0 ? shapeErrors(field, `${flag}[${i}]`) : [],
  );
  if (shapeProblems.length > 0) return refuse(...shapeProblems);
  return pass(fields);
}

/** The inverse of `parseFields`: declarations of these fields, objects before their members. */
export function formatFields(
  fields: readonly Field[],
  parentPath: readonly PathStep[] = [],
): readonly string[] {
  return fields.flatMap(({ name, required = false, ...shape }) => {
    const { members, lists } = innermostShape(shape);
    return [
      formatDeclaration({ path: [...parentPath, { name, lists: 0 }], required, shape }),
      ...formatFields(members, [...parentPath, { name, lists }]),
    ];
  });
}

/** A field whose members are still being declared. */
interface Node {
  readonly name: string;
  declaration: Declaration | undefined;
  /** The number of lists between the field and its members. */
  readonly lists: number;
  readonly members: Map<string, Node>;
}

function flagLocation(flag: string, text: string): string {
  return `${flag} ${shorten(text, 120)}`;
}

function checkedDeclaration(text: string, location: string): Result<Declaration> {
  const declaration = parseDeclaration(text, location);
  if (!declaration.ok) return declaration;
  const { path, shape } = declaration.value;
  const names = path.flatMap((step) => {
    const name = parseFieldName(step.name, location);
    if (name.ok) return [];
    return name.errors;
  });
  const errors = [...names, ...shapeErrors(shape, location)];
  if (errors.length > 0) return refuse(...errors);
  return declaration;
}

/** Adds a declaration at its path; objects along the path are implied. */
function place(root: Map<string, Node>, declaration: Declaration, location: string): readonly InputError[] {
  let level = root;
  for (const [i, { name, lists }] of declaration.path.entries()) {
    const isLast = i === declaration.path.length - 1;
    const ownShape = isLast ? innermostShape(declaration.shape) : { lists, type: 'object' };
    const node: Node = level.get(name) ?? {
      name,
      declaration: undefined,
      lists: ownShape.lists,
      members: new Map(),
    };
    const error = isLast
      ? conflictAtEnd(node, declaration.path, ownShape)
      : conflictOnPath(node, declaration.path, i);
    if (error) return [inputError(location, undefined, ...error)];
    if (isLast) node.declaration = declaration;
    level.set(name, node);
    level = node.members;
  }
  return [];
}

type Path = Declaration['path'];

/** The message and the hint of an error. */
type Conflict = readonly [message: string, hint: string];

/**
 * Returns why a declaration contradicts an earlier one at the end of its path; undefined if it does not.
 *
 * @param declaredShape the shape that the declaration gives the field
 */
function conflictAtEnd(
  node: Node,
  path: Path,
  declaredShape: { readonly type: string; readonly lists: number },
): Conflict | undefined {
  const shownPath = formatPath([...path.slice(0, -1), { name: node.name, lists: 0 }]);
  if (node.declaration) return [`${shownPath} is declared twice`, 'Remove one of the declarations.'];
  if (node.members.size === 0) return undefined;
  const declaredObject = `${shownPath}:object${'[]'.repeat(node.lists)}`;
  if (declaredShape.type !== 'object') return notObject(shownPath, declaredObject);
  if (declaredShape.lists === node.lists) return undefined;
  return [otherLists(shownPath, node.lists), `Write ${declaredObject}.`];
}

/** Returns why a field inside the path of a declaration cannot have members; undefined if it can. */
function conflictOnPath(node: Node, path: Path, i: number): Conflict | undefined {
  const lists = path[i]?.lists ?? 0;
  const shownPath = formatPath([...path.slice(0, i), { name: node.name, lists: 0 }]);
  const type = node.declaration ? innermostShape(node.declaration.shape).type : 'object';
  if (type !== 'object') return notObject(shownPath, `${shownPath}:object${'[]'.repeat(lists)}`);
  if (lists === node.lists) return undefined;
  const otherPath = formatPath(path.with(i, { name: node.name, lists: node.lists }));
  const alternative = node.lists > 0 ? '' : `, or ${shownPath}[] in the other one, too`;
  return [otherLists(shownPath, node.lists), `Write ${otherPath}${alternative}.`];
}

function notObject(shownPath: string, declaredObject: string): Conflict {
  return [
    `${shownPath} cannot have members, because it is not an object`,
    `Declare it as ${declaredObject}.`,
  ];
}

function otherLists(shownPath: string, lists: number): string {
  return `${shownPath} is ${lists > 0 ? 'a list' : 'one object'} in another declaration`;
}

function nodeField({ name, declaration, lists, members }: Node): Field {
  const { required = true, shape = nestLists({ type: 'object' }, lists) } = declaration ?? {};
  const fields = [...members.values()].map(nodeField);
  return {
    name,
    ...(required && { required }),
    ...(fields.length > 0 ? withShapeMembers(shape, fields) : shape),
  };
}

function nestLists(shape: Shape, lists: number): Shape {
  if (lists === 0) return shape;
  return { type: 'array', items: nestLists(shape, lists - 1) };
}

/** The shape with these members of the object inside all its lists. */
export function withShapeMembers(shape: Shape, fields: readonly Field[]): Shape {
  if (shape.items) return { ...shape, items: withShapeMembers(shape.items, fields) };
  return { ...shape, fields };
}

/** The value inside all lists. */
function innermostShape(shape: Shape): {
  readonly type: Shape['type'];
  readonly lists: number;
  readonly members: readonly Field[];
} {
  if (!shape.items) return { type: shape.type, lists: 0, members: shape.fields ?? [] };
  const inner = innermostShape(shape.items);
  return { ...inner, lists: inner.lists + 1 };
}

/** Values that need no quotes. */
const bareText = /^[A-Za-z0-9_.:/+@-]+$/;

/** A declaration as an author would write it; `parseDeclaration` is the inverse. */
function formatDeclaration({ path, required, shape }: Declaration): string {
  const { nullable, default: fallback, description, ...bareShape } = shape;
  const head = `${formatPath(path)}${required ? '' : '?'}:${formatType(bareShape)}`;
  const value = fallback === undefined ? '' : `=${formatValue(fallback, shape)}`;
  const text = description === undefined ? '' : ` ${formatDescription(description)}`;
  return `${head}${nullable ? '|null' : ''}${value}${text}`;
}

/** A path as it is written: `rows[].id`, `"a b".c`. */
function formatPath(path: readonly PathStep[]): string {
  return path.map(formatStep).join('.');
}

function formatStep({ name, lists }: PathStep): string {
  const isBareName = /^[\w$-]+$/.test(name) || new RegExp(`^${bareName.source}$`, 'u').test(name);
  return (isBareName ? name : JSON.stringify(name)) + '[]'.repeat(lists);
}

function formatType(shape: Shape): string {
  const head = shape.type === 'array' && shape.items ? `${formatType(shape.items)}[]` : shape.type;
  const options = formatOptions(shape);
  if (options.length > 0) return `${head}(${options.join(', ')})`;
  return head;
}

function formatOptions(shape: Shape): readonly string[] {
  const { enum: allowedValues, minimum, maximum, format, pattern, examples, description } = shape;
  const options: string[] = [];
  if (shape.nullable) options.push('nullable');
  if (allowedValues)
    options.push(
      (allowedValues.length > 1 ? '' : 'enum=') + formatChoice(allowedValues, { type: shape.type }),
    );
  if (minimum !== undefined || maximum !== undefined) options.push(`${minimum ?? ''}..${maximum ?? ''}`);
  if (format !== undefined) options.push(`format=${formatValue(format, { type: 'string' })}`);
  if (pattern !== undefined) options.push(`pattern=${formatPattern(pattern)}`);
  if (examples) options.push(`examples=${formatChoice(examples, shape)}`);
  if (description !== undefined) options.push(`description=${JSON.stringify(description)}`);
  return options;
}

function formatChoice(values: readonly Json[], shape: Shape): string {
  return values.map((value) => formatValue(value, shape)).join('|');
}

function formatValue(value: Json, shape: Shape): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (bareText.test(value) && !(shape.nullable && value === 'null')) return value;
  return JSON.stringify(value);
}

/** Between slashes, if the pattern contains none. */
function formatPattern(pattern: string): string {
  const slashed = `/${pattern}/`;
  if (/^\/(?:[^/\\\r\n]|\\[^\r\n/])+\/$/.test(slashed)) return slashed;
  return JSON.stringify(pattern);
}

/** Quoted if the plain text would be parsed as something else. */
function formatDescription(description: string): string {
  const isPlain = description === description.trim() && !/^["=]/.test(description) && description !== '';
  if (isPlain) return description;
  return JSON.stringify(description);
}
