// Decimals with more digits than a JavaScript number has.

import type { ObjectSchema } from '../server/define-tool.ts';
import { writtenNumber } from '../server/exact-numbers.ts';
import { isObject, type Members } from '../server/schema.ts';
import { combinedSchemas, schemasOfMember } from './declared-members.ts';

/**
 * An answer in which a decimal that JavaScript would change is the text of its digits, where the declared type admits text.
 *
 * @param literally the same answer by `parseLiterally`; called once, if one of its numbers may matter
 */
export function withDecimals(answer: unknown, schema: ObjectSchema, literally: () => unknown): unknown {
  let literal: { readonly value: unknown } | undefined;
  const root = () => {
    literal ??= { value: literally() };
    return literal.value;
  };
  return restoreDecimals(answer, [{ ...schema }], root);
}

function restoreDecimals(value: unknown, schemas: readonly Members[], literal: () => unknown): unknown {
  const parts = schemas.flatMap(combinedSchemas);
  if (typeof value === 'number' && Number.isFinite(value)) {
    const isText = parts.some(({ type }) => [type].flat().includes('string'));
    return (isText ? writtenNumber(literal()) : undefined) ?? value;
  }
  if (parts.length === 0) return value;
  if (Array.isArray(value)) {
    const items = parts.flatMap((part) => (isObject(part.items) ? [part.items] : []));
    return value.map((item, i) => restoreDecimals(item, items, () => (literal() as readonly unknown[])[i]));
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    const memberSchemas = parts.flatMap((part) => schemasOfMember(part, name));
    return [name, restoreDecimals(member, memberSchemas, () => (literal() as Members)[name])];
  });
  return Object.fromEntries(members);
}
