/**
 * Runs unit tests of the runtime with each change of evidence/mutation/changes.ts in turn, and fails if they pass with one.
 *
 * npm run mutate [-- <numbers of changes>]
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { load } from '../../scripts/load.js';

const atOnce = 2;

/** @type {typeof import('./changes.ts')} */
const { changedText, changes } = await load('evidence/mutation/changes.ts');
for (const change of changes)
  changedText(change, readFileSync(`packages/runtime/src/${change.file}`, 'utf8'));
const chosen = process.argv.slice(2);
const wrong = chosen.find((number) => !(/^\d+$/.test(number) && Number(number) < changes.length));
if (wrong !== undefined) fail(`${wrong} is not the number of a change. Use 0 to ${changes.length - 1}.`);
const numbers = chosen.length > 0 ? chosen.map(Number) : [...changes.keys()];

const failing = await firstFailure([...new Set(numbers.flatMap((number) => changes[number].tests))]);
if (failing !== undefined) fail(`A test fails without any change: ${failing}`);

let found = 0;
const queue = numbers.values();
await Promise.all(Array.from({ length: atOnce }, work));
console.log(`${found} of ${numbers.length} changes found`);
if (found < numbers.length) fail('The tests pass with the others: strengthen one.');

async function work() {
  for (const number of queue) {
    const { file, before, after, tests } = changes[number];
    const failed = await firstFailure(tests, number);
    if (failed !== undefined) found++;
    const end = failed === undefined ? 'NOT FOUND' : `found by: ${failed}`;
    console.log(`${number} ${file}: ${before} → ${after || '(nothing)'}\n   ${end}`);
  }
}

/**
 * @param {readonly string[]} tests names of files in test/runtime/
 * @param {number} [change]
 * @returns {Promise<string | undefined>} the name of the test that failed
 */
function firstFailure(tests, change) {
  const files = tests.map((name) => `test/runtime/${name}.test.ts`);
  const args = [
    'vitest',
    'run',
    '--config',
    'evidence/mutation/vitest.config.ts',
    '--bail',
    '1',
    '--reporter',
    'json',
    ...files,
  ];
  const env = { ...process.env, CHANGE: change === undefined ? '' : String(change) };
  return new Promise((resolve) => {
    execFile('npx', args, { env, maxBuffer: 2 ** 26 }, (error, output, problems) => {
      if (!error) return resolve(undefined);
      const start = output.indexOf('{"numTotalTestSuites"');
      const results = start < 0 ? [] : JSON.parse(output.slice(start)).testResults;
      const failed = results
        .flatMap((/** @type {any} */ file) => file.assertionResults)
        .find((/** @type {any} */ test) => test.status === 'failed');
      // What does not load, or fails outside of a test, finds nothing.
      if (!failed) fail(`No test failed, but the tests of ${files.join(', ')} did:\n${output}${problems}`);
      resolve(failed.fullName);
    });
  });
}

/** @param {string} message */
function fail(message) {
  console.error(message);
  process.exit(1);
}
