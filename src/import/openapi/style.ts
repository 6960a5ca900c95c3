import { type JsonObject, typesOf } from 'market-mcp-contract/json';
import type { PathStyle, QueryStyle } from '../imported-tool.ts';

export function hasScalarType(schema: JsonObject): boolean {
  const types = typesOf(schema);
  return types.length > 0 && !types.includes('array') && !types.includes('object');
}

/** The style of a query parameter, or of a member of a form, unless it is the default. */
export function styleOf({ style, explode, collectionFormat }: JsonObject): QueryStyle | undefined {
  if (style === 'deepObject') return 'deepObject';
  // Separate parameters have no delimiter (OpenAPI 3, "explode").
  if (explode === true) return undefined;
  if (style === 'spaceDelimited' || collectionFormat === 'ssv') return 'space';
  if (style === 'pipeDelimited' || collectionFormat === 'pipes') return 'pipe';
  if (explode === false) return 'comma';
  return undefined;
}

/** The style of a parameter of Swagger 2.0, whose lists have commas unless it says otherwise. */
export function oldStyleOf(parameter: JsonObject): QueryStyle | undefined {
  const isList = parameter.type === 'array' && parameter.collectionFormat !== 'multi';
  return styleOf(parameter) ?? (isList ? 'comma' : undefined);
}

/** A style with `allowReserved`, where there is one. @param note receives why it is not honoured */
export function withReserved<Style extends QueryStyle | undefined>(
  { allowReserved }: JsonObject,
  style: Style,
  note: (loss: string) => void,
): Style | 'reserved' | 'reservedComma' {
  if (allowReserved !== true) return style;
  if (style === undefined || style === 'form') return 'reserved';
  if (style === 'comma') return 'reservedComma';
  note('has allowReserved, which this style cannot honour: reserved characters are percent-encoded');
  return style;
}

/** The style of a path parameter or a header, unless it is the default, `simple`. */
export function simpleStyleOf(
  { in: place, style, explode }: JsonObject,
  schema: JsonObject,
): PathStyle | undefined {
  if (place === 'path' && (style === 'label' || style === 'matrix'))
    return explode === true ? `${style}*` : style;
  if (explode === true && !hasScalarType(schema)) return 'simple*';
  return undefined;
}

/** Why the lists of a parameter of Swagger 2.0 cannot be written; undefined if they can. */
export function unsupportedLists({
  in: place,
  type,
  collectionFormat: format,
}: JsonObject): string | undefined {
  if (type !== 'array' || format === undefined || format === 'csv') return undefined;
  if (format !== 'tsv' && place !== 'path' && place !== 'header') return undefined;
  return `the collectionFormat of its lists, ${format}, is not supported here`;
}
