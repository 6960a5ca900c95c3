import type { Json } from '../contract/model.ts';
import type { Shape } from '../model/model.ts';
import { bareName, type Declaration, type Step } from './declaration.ts';

/** Values that need no quotes. */
const bareText = /^[A-Za-z0-9_.:/+@-]+$/;

/** A declaration as an author would write it; `parseDeclaration` is the inverse. */
export function formatDeclaration({ path, required, shape }: Declaration): string {
  const { nullable, default: fallback, description, ...bare } = shape;
  const head = `${formatPath(path)}${required ? '' : '?'}:${formatType(bare)}`;
  const value = fallback === undefined ? '' : `=${formatValue(fallback, shape)}`;
  const text = description === undefined ? '' : ` ${formatDescription(description)}`;
  return `${head}${nullable ? '|null' : ''}${value}${text}`;
}

/** A path as it is written: `rows[].id`, `"a b".c`. */
export function formatPath(path: readonly Step[]): string {
  return path.map(formatStep).join('.');
}

function formatStep({ name, lists }: Step): string {
  const bare = /^[\w$-]+$/.test(name) || new RegExp(`^${bareName.source}$`, 'u').test(name);
  return (bare ? name : JSON.stringify(name)) + '[]'.repeat(lists);
}

function formatType(shape: Shape): string {
  const head = shape.type === 'array' && shape.items ? `${formatType(shape.items)}[]` : shape.type;
  const options = formatOptions(shape);
  return options.length > 0 ? `${head}(${options.join(', ')})` : head;
}

function formatOptions(shape: Shape): readonly string[] {
  const { enum: allowed, minimum, maximum, format, pattern, examples, description } = shape;
  const options: string[] = [];
  if (shape.nullable) options.push('nullable');
  if (allowed)
    options.push((allowed.length > 1 ? '' : 'enum=') + formatChoice(allowed, { type: shape.type }));
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
  return bareText.test(value) && !(shape.nullable && value === 'null') ? value : JSON.stringify(value);
}

/** Between slashes, if the pattern contains none. */
function formatPattern(pattern: string): string {
  const slashed = `/${pattern}/`;
  return /^\/(?:[^/\\\r\n]|\\[^\r\n/])+\/$/.test(slashed) ? slashed : JSON.stringify(pattern);
}

/** Quoted if the plain text would be parsed as something else. */
function formatDescription(description: string): string {
  const plain = description === description.trim() && !/^["=]/.test(description) && description !== '';
  return plain ? description : JSON.stringify(description);
}
