import { createPublicKey } from 'node:crypto';
import { isObject, objectOr, shorten } from '../json/json.ts';
import { mismatches, tryCompile, valueAt } from '../json/schema.ts';
import type { JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';

const text = { type: 'string', minLength: 1 };
const textOrNull = { type: ['string', 'null'], minLength: 1 };
const texts = { type: 'array', items: text };
const count = { type: 'number', minimum: 0 };
const milliseconds = { type: 'number', exclusiveMinimum: 0 };
const members = { type: 'object' };
const lengths = closedObject({
  minimum: { type: 'integer', minimum: 0 },
  maximum: { type: 'integer', minimum: 1 },
});

/** JSON Schema (draft-07) of `PlatformProfile`: what `--platform <file>` takes, as JSON or YAML. */
export const profileSchema: JsonObject = closedObject(
  {
    name: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' },
    title: text,
    token: closedObject({
      header: { type: 'string', pattern: '^[a-z0-9-]+$' },
      scheme: { type: 'string', pattern: '^[A-Za-z0-9-]+$' },
      algorithms: {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        items: {
          enum: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
        },
      },
      issuer: textOrNull,
      jwksUrl: { type: ['string', 'null'], pattern: '^https://' },
      fallbackKey: {
        ...closedObject({ pem: { type: 'string', pattern: '^-----BEGIN PUBLIC KEY-----' }, source: text }),
        type: ['object', 'null'],
      },
      audience: { const: 'endpoint-url' },
      lifetimeSeconds: { type: 'integer', minimum: 1 },
      clockToleranceSeconds: { type: 'integer', minimum: 0, maximum: 60 },
      claims: members,
      refusalStatus: { type: ['integer', 'null'], minimum: 400, maximum: 499 },
    }),
    protocol: closedObject({ modern: { enum: ['on', 'off'] } }),
    listing: closedObject(
      {
        url: textOrNull,
        categories: { type: ['array', 'null'], items: text },
        nameLength: lengths,
        descriptionLength: lengths,
        descriptionSections: texts,
        descriptionQuestions: { type: 'integer', minimum: 0 },
        descriptionForbids: texts,
        price: closedObject({
          pattern: text,
          maximum: { type: ['number', 'null'], minimum: 0 },
          currency: text,
        }),
        stake: closedObject({
          minimum: count,
          perPriceUnit: count,
          currency: text,
          withdrawalDelayDays: count,
        }),
      },
      ['descriptionQuestions'],
    ),
    limits: closedObject({
      initializeMs: milliseconds,
      callMs: milliseconds,
      submissionMs: { type: ['number', 'null'], exclusiveMinimum: 0 },
      resultCharacters: { type: 'integer', minimum: 1 },
      toolNamePattern: text,
      descriptionCharacters: { type: 'integer', minimum: 1 },
    }),
    toolMeta: { type: ['object', 'null'] },
    smoke: closedObject({
      string: { type: 'string' },
      number: { type: 'number' },
      boolean: { type: 'boolean' },
      claims: members,
    }),
    rules: closedObject({
      facts: { enum: ['own', 'should', 'off'] },
      overrides: { type: 'object', additionalProperties: { enum: ['must', 'should', 'off'] } },
    }),
    sources: { type: 'object', additionalProperties: text },
  },
  ['protocol'],
);

/** An object with exactly these members, of which some may be absent. */
function closedObject(properties: JsonObject, optional: readonly string[] = []): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

/**
 * Every error of a platform profile, with its path; none if the value is a `PlatformProfile`.
 *
 * @param isRule decides whether a name is that of a rule or of a group; by default, any name may have its own level
 */
export function profileProblems(
  value: unknown,
  isRule: (id: string) => boolean = () => true,
): readonly Problem[] {
  return [
    ...mismatches(profileSchema, value, 'profile'),
    ...['listing.price.pattern', 'limits.toolNamePattern'].flatMap((path) =>
      unparsableProblems(value, path, 'a regular expression', (pattern) => new RegExp(pattern, 'u')),
    ),
    ...toolMetaProblems(value),
    ...overrideProblems(value, isRule),
    ...unparsableProblems(value, 'token.fallbackKey.pem', 'a public key (PEM)', createPublicKey),
  ];
}

/** The problem of a text at a path that cannot be parsed. */
function unparsableProblems(
  profile: unknown,
  path: string,
  expected: string,
  parse: (text: string) => unknown,
): readonly Problem[] {
  const text = valueAt(profile, path.split('.'));
  if (typeof text !== 'string') return [];
  try {
    parse(text);
    return [];
  } catch {
    return [{ path: `profile.${path}`, expected, actual: shorten(text) }];
  }
}

function toolMetaProblems(profile: unknown): readonly Problem[] {
  const { toolMeta } = objectOr(profile);
  const result = isObject(toolMeta) ? tryCompile(toolMeta) : undefined;
  if (result?.ok === false)
    return [{ path: 'profile.toolMeta', expected: 'a JSON Schema of draft-07', actual: result.reason }];
  return [];
}

function overrideProblems(profile: unknown, isRule: (id: string) => boolean): readonly Problem[] {
  return Object.keys(objectOr(valueAt(profile, ['rules', 'overrides'])))
    .filter((id) => !isRule(id))
    .map((id) => ({
      path: `profile.rules.overrides.${id}`,
      expected: 'the id of a rule, or a group',
      actual: id,
    }));
}
