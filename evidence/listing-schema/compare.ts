import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { registrySchema, serverJsonProblems } from '../../src/marketplace/core/server-json.ts';
import fc from '../../test/fast-check.ts';

/** The verdicts of two validators on one document. */
export type Verdict = 'both accept' | 'both refuse' | 'stricter' | 'looser';

/** The number of documents with each verdict; `looser` contains those that only the registry's schema refuses. */
export interface Comparison {
  readonly counts: Readonly<Record<Exclude<Verdict, 'looser'>, number>>;
  readonly looser: readonly { readonly document: JsonObject; readonly errors: string }[];
}

/** Returns the errors of a document, empty if it is valid. Checks formats. */
export function judge(schema: JsonObject): (document: unknown) => string {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addFormat('uri-template', true);
  const validate = ajv.compile(schema);
  return (document) => (validate(document) ? '' : ajv.errorsText(validate.errors));
}

/** Compares `serverJsonProblems` with the registry's schema on random documents: valid, at each limit, and beyond. */
export function compare(schema: JsonObject, runs: number): Comparison {
  const errorsOf = judge(schema);
  const counts = { 'both accept': 0, 'both refuse': 0, stricter: 0 };
  const looser: { document: JsonObject; errors: string }[] = [];
  for (const document of fc.sample(documents, runs)) {
    const errors = errorsOf(document);
    const verdict = verdictOf(serverJsonProblems(document).length === 0, errors === '');
    if (verdict === 'looser') looser.push({ document, errors });
    else counts[verdict] += 1;
  }
  return { counts, looser };
}

/** The members of a document that `market-mcp listing` writes. */
export function written(document: JsonObject): JsonObject {
  const { packages: _, icons: __, _meta: ___, ...rest } = document;
  return rest;
}

export function verdictOf(isOurs: boolean, isTheirs: boolean): Verdict {
  if (isOurs) return isTheirs ? 'both accept' : 'looser';
  return isTheirs ? 'stricter' : 'both refuse';
}

const text = (max: number) => fc.integer({ min: 1, max }).map((length) => 'x'.repeat(length));
const anything = fc.oneof(
  fc.constantFrom<unknown>('', ' ', null, 7, true, [], {}, '\n', 'é', '\u0000'),
  fc.string(),
  text(300),
);

/** Mostly a valid value; otherwise one at or beyond a limit, or anything. */
function mostly(valid: fc.Arbitrary<unknown>, ...others: readonly unknown[]): fc.Arbitrary<unknown> {
  const other = others.length === 0 ? anything : fc.oneof(fc.constantFrom(...others), anything);
  return fc.oneof({ arbitrary: valid, weight: 12 }, { arbitrary: other, weight: 1 });
}

/** An object with most of its members. */
function having(members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<JsonObject> {
  const all = fc.record(members);
  return fc.oneof(
    { arbitrary: all, weight: 12 },
    { arbitrary: fc.record(members, { requiredKeys: [] }), weight: 1 },
  ) as fc.Arbitrary<JsonObject>;
}

const address = mostly(
  fc.oneof(
    fc.constantFrom('https://a.example/mcp', 'https://a.example:8443/mcp?x=%20'),
    fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ['https'] }),
  ),
  ...['https://{host}/mcp', 'http://a.example', 'https://', 'https://a.example/a b', 'https://a.example/%z'],
  ...[
    'https://a.example/|',
    'https://a.example/é',
    'https://[::1]/mcp',
    '//a.example',
    'https://a.example:x/',
  ],
);
const header = having({
  name: mostly(fc.constant('Authorization')),
  description: mostly(text(200)),
  isRequired: mostly(fc.boolean()),
  isSecret: mostly(fc.boolean()),
});
const remote = having({
  type: mostly(fc.constant('streamable-http'), 'sse', 'stdio'),
  url: address,
  headers: mostly(fc.array(header, { maxLength: 2 })),
});
const repository = fc.oneof(
  { arbitrary: fc.constant({ url: 'https://github.com/ada/gas', source: 'github' }), weight: 12 },
  having({ url: address, source: mostly(fc.constant('gitlab'), 'bitbucket') }),
);
const documents = having({
  $schema: fc.constant(registrySchema),
  name: mostly(
    fc.integer({ min: 2, max: 188 }).map((length) => `com.example/${'x'.repeat(length)}`),
    ...['a/b', 'ab/cd', '/a', 'a/', '.a/b.', 'a/b/c', 'é/bc', `com.example/${'x'.repeat(189)}`],
  ),
  title: mostly(text(100), 'x'.repeat(101)),
  description: mostly(text(100), 'x'.repeat(101)),
  version: mostly(
    fc.constantFrom('1.0.2', '2026.11.22', '1.0.0-beta+x', 'x'.repeat(255)),
    ...['1.x', '^1.0.0', 'latest', 'x'.repeat(256)],
  ),
  websiteUrl: address,
  repository: mostly(repository),
  remotes: mostly(fc.array(remote, { minLength: 1, maxLength: 2 })),
});
