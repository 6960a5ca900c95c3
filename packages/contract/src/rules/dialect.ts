import { shorten } from '../json/json.ts';
import { isDialect } from '../json/schema.ts';
import type { JsonObject } from '../json/value.ts';
import type { LocatedSchema } from '../json/walk.ts';
import { fact, type StaticRule, should } from './rule.ts';
import { allSchemas, inputSchemas, outputSchemas } from './schema-problems.ts';

/**
 * Keywords that old and new validators read differently. The marketplace compiles outputSchemas, so their dialect is a
 * MUST. It does not compile inputSchemas.
 */
export const dialectRules: readonly StaticRule[] = [
  forbids({
    ...fact('schema.no-dialect', 'must', 'app api/v1/tools/dispute/route.ts'),
    title: 'no outputSchema names its dialect ($schema)',
    fix: 'Remove $schema. The marketplace cannot compile 2020-12, and newer clients refuse draft-07.',
    keywords: ['$schema'],
  }),
  forbids({
    ...fact('schema.no-id', 'must', 'app api/v1/tools/dispute/route.ts'),
    title: 'no outputSchema has an id ($id)',
    fix: 'Remove $id. Two tools with the same $id cannot be compiled together.',
    keywords: ['$id'],
  }),
  forbids({
    ...fact('schema.no-external-ref', 'must', 'app api/v1/tools/dispute/route.ts'),
    title: 'every $ref of an outputSchema points into that schema',
    fix: 'Copy the referenced schema to the place where it is used.',
    keywords: ['$ref', '$dynamicRef', '$recursiveRef'],
    allows: ({ schema: { $ref } }, keyword) =>
      keyword === '$ref' && typeof $ref === 'string' && $ref.startsWith('#'),
  }),
  forbids({
    ...fact('schema.no-tuples', 'must', 'app api/v1/tools/dispute/route.ts'),
    title: 'no outputSchema describes a tuple',
    fix: 'Use an object with named properties. Draft-07 and 2020-12 write tuples differently.',
    keywords: ['prefixItems', 'additionalItems', 'items'],
    allows: ({ schema }, keyword) => keyword === 'items' && !Array.isArray(schema.items),
  }),
  forbids({
    ...fact('schema.no-unevaluated', 'must', 'app api/v1/tools/dispute/route.ts'),
    title: 'no outputSchema uses unevaluatedProperties or unevaluatedItems',
    fix: 'Use additionalProperties. Draft-07 ignores unevaluatedProperties and unevaluatedItems.',
    keywords: ['unevaluatedProperties', 'unevaluatedItems'],
  }),
  forbids({
    ...fact('schema.no-nullable-keyword', 'should', 'docs guides/build-tools.mdx'),
    title: 'null is allowed by the type, not by the keyword nullable',
    fix: 'Write type: ["number", "null"]. Most validators ignore nullable.',
    keywords: ['nullable'],
    of: allSchemas,
  }),
  forbids({
    ...should(
      'input.dialect',
      'MCP 2025-11-25, JSON Schema: 2020-12 by default; earlier clients read draft-07',
    ),
    title: 'no inputSchema uses keywords that draft-07 and 2020-12 read differently',
    fix: 'Remove $id, keep every $ref inside the schema, and replace tuples by objects.',
    keywords: (
      '$schema $id $ref $dynamicRef $recursiveRef prefixItems additionalItems items unevaluatedProperties ' +
      'unevaluatedItems'
    ).split(' '),
    of: inputSchemas,
    allows: ({ schema, path }, keyword) =>
      (keyword === '$schema' && path === 'inputSchema' && isDialect(schema.$schema)) ||
      (keyword === '$ref' && typeof schema.$ref === 'string' && schema.$ref.startsWith('#')) ||
      (keyword === 'items' && !Array.isArray(schema.items)),
  }),
];

interface KeywordRule extends Omit<StaticRule, 'inspect'> {
  readonly keywords: readonly string[];
  /** The schemas to check; by default those of the outputSchema. */
  readonly of?: (tool: JsonObject) => readonly LocatedSchema[];
  allows?(place: LocatedSchema, keyword: string): boolean;
}

/** A rule that none of these keywords stands in a schema. */
export function forbids({
  keywords,
  of = outputSchemas,
  allows = () => false,
  ...text
}: KeywordRule): StaticRule {
  return {
    ...text,
    inspect: (tool) =>
      of(tool).flatMap((place) =>
        keywords
          .filter((keyword) => place.schema[keyword] !== undefined && !allows(place, keyword))
          .map((keyword) => ({
            path: `${place.path}.${keyword}`,
            expected: 'not to be used',
            actual: shorten(place.schema[keyword]),
          })),
      ),
  };
}
