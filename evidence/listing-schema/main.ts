import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { registrySchema, serverJsonProblems } from '../../src/marketplace/core/server-json.ts';
import { seed } from '../../test/random.ts';
import { compare, judge, verdictOf, written } from './compare.ts';

const runs = 100_000;
const [schemaFile, ...files] = process.argv.slice(2);
if (schemaFile === undefined) {
  console.error(
    'Write: node evidence/listing-schema/run.js <server.schema.json of the registry> [server.json…]',
  );
  process.exit(2);
}
const text = readFileSync(schemaFile, 'utf8');
const schema = JSON.parse(text);
console.log(`${schema.$id}, sha256 ${createHash('sha256').update(text).digest('hex').slice(0, 16)}`);
if (schema.$id !== registrySchema) {
  console.error(`The documents that are written name another schema: ${registrySchema}`);
  process.exit(1);
}

const { counts, looser } = compare(schema, runs);
console.log(`${runs} random documents (TEST_SEED=${seed}):`, { ...counts, looser: looser.length });
for (const { document, errors } of looser.slice(0, 5))
  console.log(`  ${JSON.stringify(document)}: ${errors}`);

const errorsOf = judge(schema);
const verdicts = files.map((file) => {
  const document = JSON.parse(readFileSync(file, 'utf8'));
  const errors = errorsOf(document);
  const problems = serverJsonProblems(written(document));
  const verdict = verdictOf(problems.length === 0, errors === '');
  const reasons = [errors, ...problems.map(({ path, expected }) => `${path}: ${expected}`)].filter(Boolean);
  console.log([`${file}: ${verdict}`, ...reasons].join('\n  '));
  return verdict;
});
if (looser.length > 0 || verdicts.includes('looser')) process.exit(1);
