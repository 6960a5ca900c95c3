import { isObject, type Json } from 'market-mcp-contract/json';
import type { Field, Shape } from '../../model/tool-model.ts';
import type { QueryStyle } from '../imported-tool.ts';
import { digitsShape, type ExactJson, isLargeIntegerList } from './exact-body.ts';

/** The value that a text in a query, a path or a form stands for: a number only if it is written like one. */
export function scalarOf(text: string): Json {
  if (text === 'true' || text === 'false') return text === 'true';
  const isNumber = /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(text) && String(Number(text)) === text;
  return isNumber ? Number(text) : text;
}

/** The shape that admits a value; undefined for null and for lists of several types. */
export function shapeForValue(value: ExactJson): Shape | undefined {
  if (typeof value === 'bigint') return digitsShape;
  if (typeof value === 'string' || typeof value === 'boolean') return { type: typeof value as 'string' };
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' };
  if (isLargeIntegerList(value)) return { type: 'array', items: digitsShape };
  if (Array.isArray(value)) {
    const items: readonly ExactJson[] = value;
    const [first, ...otherShapes] = items.map(shapeForValue);
    const hasLargeInteger = items.some((item) => typeof item === 'bigint');
    const isSame =
      first !== undefined && !hasLargeInteger && otherShapes.every((shape) => shape?.type === first.type);
    if (isSame && !['object', 'array'].includes(first.type)) return { type: 'array', items: first };
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const fields = Object.entries(value).flatMap(([name, member]): Field[] => {
    const shape = shapeForValue(member);
    if (shape) return [{ name, required: true, ...shape }];
    return [];
  });
  return { type: 'object', fields };
}

const graphqlTypes: { readonly [name: string]: Shape } = {
  Int: { type: 'integer' },
  Float: { type: 'number' },
  String: { type: 'string' },
  ID: { type: 'string' },
  Boolean: { type: 'boolean' },
};

/** The shape of a GraphQL variable by its declared type, and for an enum, a scalar or an input object by its value. */
export function graphqlShape(declaredType: string, value: ExactJson | undefined): Shape | undefined {
  if (typeof value === 'bigint' || isLargeIntegerList(value)) return shapeForValue(value);
  const type = declaredType.replace(/!+$/, '');
  if (type.startsWith('[')) {
    const items = graphqlShape(type.slice(1, -1), Array.isArray(value) ? value[0] : undefined);
    return items && { type: 'array', items };
  }
  if (Object.hasOwn(graphqlTypes, type)) return graphqlTypes[type];
  if (value === undefined || value === null) return { type: 'string' };
  return shapeForValue(value);
}

/** How the source kit must write a text so that it is the given one; undefined: by default. */
export function styleLike(raw: string, text: string): QueryStyle | undefined {
  const usualForm = new URLSearchParams([['', text]]).toString().slice(1);
  const reserved = encodeURI(text)
    .replaceAll(/%25([\da-f]{2})/gi, '%$1')
    .replaceAll(/[#&+]/g, encodeURIComponent);
  if (raw !== usualForm && raw === reserved) return 'reserved';
  return undefined;
}
