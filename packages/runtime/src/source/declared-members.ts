// Keeps only the members that a schema declares (`keep: 'declared'`).

import { type ObjectSchema, signals } from '../server/define-tool.ts';
import { isObject, type Members } from '../server/schema.ts';

/**
 * A value without the members that its schema does not declare, at any depth. Maps (`additionalProperties`), and objects and
 * lists that the schema does not describe, are kept whole. The signals of an empty result or a failure are never a source's.
 */
export function keepDeclaredMembers(value: unknown, schema: ObjectSchema): unknown {
  return reduceValue(value, [schemaWithoutSignals(schema)]);
}

/** A schema without the signals of an empty result or a failure, where they are the standard ones. */
export function schemaWithoutSignals(schema: ObjectSchema): Members {
  const knownSignals: Members = signals;
  const ownProperties = Object.entries(schema.properties).filter(
    ([name, member]) =>
      !Object.hasOwn(knownSignals, name) || JSON.stringify(member) !== JSON.stringify(knownSignals[name]),
  );
  return { ...schema, properties: Object.fromEntries(ownProperties) };
}

/** A value with the members that at least one of the schemas declares. */
function reduceValue(value: unknown, schemas: readonly Members[]): unknown {
  const parts = schemas.flatMap(combinedSchemas);
  if (parts.some(({ $ref }) => $ref !== undefined)) return value;
  if (Array.isArray(value)) {
    const items = parts.flatMap((part) => (isObject(part.items) ? [part.items] : []));
    if (items.length === 0) return value;
    return value.map((item) => reduceValue(item, items));
  }
  const describing = parts.filter(({ properties, additionalProperties: further }) => properties ?? further);
  if (!isObject(value) || describing.length === 0) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const memberSchemas = describing.flatMap((part) => schemasOfMember(part, name));
    if (memberSchemas.length === 0) return [];
    return [[name, reduceValue(member, memberSchemas)]];
  });
  return Object.fromEntries(members);
}

/** A schema and the schemas that it combines by `anyOf`, `oneOf` and `allOf`, at any depth. */
export function combinedSchemas(schema: Members): readonly Members[] {
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flat().filter(isObject);
  return [schema, ...parts.flatMap(combinedSchemas)];
}

/** The schema of a member, in a list; an empty list if the member is not declared. */
export function schemasOfMember(
  { properties, additionalProperties: further }: Members,
  name: string,
): readonly Members[] {
  const isDeclared = isObject(properties) && Object.hasOwn(properties, name);
  const schema = isDeclared ? properties[name] : further;
  if (schema === true) return [{}];
  if (isObject(schema)) return [schema];
  return [];
}

/** The schemas of the members that tools keep, by request, of this run of `record`; undefined for a tool that keeps all. */
const recorded = new Map<string, (ObjectSchema | undefined)[]>();

/**
 * The part of an answer to record: the members that any tool keeps that sent this request in this run.
 *
 * @param schema of the members that this tool keeps; undefined: it keeps all
 */
export function declaredPartToRecord(
  request: object,
  wholeValue: unknown,
  schema: ObjectSchema | undefined,
): unknown {
  const key = JSON.stringify(request);
  const schemas = [...(recorded.get(key) ?? []), schema];
  recorded.set(key, schemas);
  const knownSchemas = schemas.flatMap((schema) => (schema ? [schemaWithoutSignals(schema)] : []));
  if (knownSchemas.length < schemas.length) return wholeValue;
  return reduceValue(wholeValue, knownSchemas);
}
