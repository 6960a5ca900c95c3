import type { StaticRule } from '../rule.ts';
import { shorten } from '../schema.ts';
import type { Place } from '../walk.ts';
import { allPlaces } from './read.ts';

/** Keywords on which validators of different age disagree. Both schemas are judged. */
export const dialectRules: readonly StaticRule[] = [
  forbids({
    id: 'schema.no-dialect',
    level: 'must',
    title: 'no schema names its dialect ($schema)',
    source: 'app api/v1/tools/dispute/route.ts',
    fact: true,
    mend: 'Remove $schema: 2020-12 does not compile at the marketplace, draft-07 is refused by newer clients.',
    keywords: ['$schema'],
  }),
  forbids({
    id: 'schema.no-id',
    level: 'must',
    title: 'no schema has an id ($id)',
    source: 'app api/v1/tools/dispute/route.ts',
    fact: true,
    mend: 'Remove $id: two tools with the same one do not compile together.',
    keywords: ['$id'],
  }),
  forbids({
    id: 'schema.no-external-ref',
    level: 'must',
    title: 'every $ref points into its own schema',
    source: 'app api/v1/tools/dispute/route.ts',
    fact: true,
    mend: 'Copy what the $ref points at into definitions and refer to "#/definitions/…".',
    keywords: ['$ref', '$dynamicRef', '$recursiveRef'],
    allows: ({ schema: { $ref } }, keyword) =>
      keyword === '$ref' && typeof $ref === 'string' && $ref.startsWith('#'),
  }),
  forbids({
    id: 'schema.no-tuples',
    level: 'must',
    title: 'no schema describes a tuple',
    source: 'app api/v1/tools/dispute/route.ts',
    fact: true,
    mend: 'Use an object with named properties: draft-07 and 2020-12 write tuples differently.',
    keywords: ['prefixItems', 'additionalItems', 'items'],
    allows: ({ schema }, keyword) => keyword === 'items' && !Array.isArray(schema.items),
  }),
  forbids({
    id: 'schema.no-unevaluated',
    level: 'must',
    title: 'no schema uses unevaluatedProperties or unevaluatedItems',
    source: 'app api/v1/tools/dispute/route.ts',
    fact: true,
    mend: 'Use additionalProperties: draft-07 ignores the other.',
    keywords: ['unevaluatedProperties', 'unevaluatedItems'],
  }),
  forbids({
    id: 'schema.no-nullable-keyword',
    level: 'should',
    title: 'null is allowed by the type, not by the keyword nullable',
    source: 'docs guides/build-tools.mdx',
    fact: true,
    mend: 'Write type: ["number", "null"]; most validators ignore nullable.',
    keywords: ['nullable'],
  }),
];

interface KeywordRule extends Omit<StaticRule, 'inspect'> {
  readonly keywords: readonly string[];
  allows?(place: Place, keyword: string): boolean;
}

function forbids({ keywords, allows = () => false, ...text }: KeywordRule): StaticRule {
  return {
    ...text,
    inspect: (tool) =>
      allPlaces(tool).flatMap((place) =>
        keywords
          .filter((keyword) => place.schema[keyword] !== undefined && !allows(place, keyword))
          .map((keyword) => ({
            path: `${place.path}.${keyword}`,
            expected: 'no such keyword',
            actual: shorten(place.schema[keyword]),
          })),
      ),
  };
}
