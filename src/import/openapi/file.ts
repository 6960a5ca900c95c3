import { isObject, type JsonObject } from 'market-mcp-contract/json';
import { isBinaryType } from '../media-type.ts';
import { described } from './openapi-keywords.ts';

/**
 * Characters of a file in base64, for 750,000 bytes. By default, a server reads bodies of up to 1 MiB (`MAX_BODY_BYTES`), and the
 * other arguments need room as well.
 */
const maxCharacters = 1_000_000;

/** Whether a schema in a form describes a file: binary text, or the file type of Swagger 2.0. */
export function isFile({ type, format, contentMediaType, contentEncoding }: JsonObject): boolean {
  if (type === 'file') return true;
  const isText = type === undefined || [type].flat().includes('string');
  if (!isText || contentEncoding !== undefined) return false;
  return format === 'binary' || (typeof contentMediaType === 'string' && isBinaryType(contentMediaType));
}

/** The schema of a file as an argument: JSON cannot contain bytes. */
export function fileSchema(schema: JsonObject): JsonObject {
  const { description } = described(schema);
  const text =
    typeof description === 'string' ? description.replace(/[.!?…]?$/, '.') : 'The content of the file.';
  return {
    type: 'string',
    description: `${text} In base64.`,
    contentEncoding: 'base64',
    maxLength: maxCharacters,
    examples: ['aGVsbG8='],
  };
}

/** Whether the converted schema of a part is a file, or a list of files. */
export function holdsFile({ contentEncoding, items }: JsonObject): boolean {
  return contentEncoding === 'base64' || (isObject(items) && items.contentEncoding === 'base64');
}
