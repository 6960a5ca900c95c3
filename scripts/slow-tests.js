import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

// Measures each unit test file and writes those that take three seconds or more to test/slow.json, which vitest.config.ts reads.
// For a machine that does nothing else:
//
//   npm run build && node scripts/slow-tests.js

const root = join(import.meta.dirname, '..');
const leastSeconds = 3;

const directory = mkdtempSync(join(tmpdir(), 'market-mcp-slow-'));
try {
  const results = join(directory, 'results.json');
  const args = ['vitest', 'run', '--project', 'unit', '--project', 'slow'];
  const { status } = spawnSync('npx', args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, TEST_RESULTS: results },
  });
  if (status !== 0) throw new Error('A test failed: test/slow.json is as it was.');
  const { testResults } = JSON.parse(readFileSync(results, 'utf8'));
  const files = testResults.map(({ name, startTime, endTime }) => ({
    name: relative(root, name),
    seconds: (endTime - startTime) / 1000,
  }));
  // The one real scaffold, the sample of broken servers, calls and routes are part of `npm test`, however long they take.
  const isSlow = ({ name, seconds }) =>
    seconds >= leastSeconds && !/^test\/(scaffold\/|broken\/sample|runtime\/(call|http)\.)/.test(name);
  const slow = files.filter(isSlow).map(({ name }) => name);
  writeFileSync(join(root, 'test/slow.json'), `${JSON.stringify(slow.toSorted(), null, 2)}\n`);
  const sum = Math.round(files.reduce((all, { seconds }) => all + seconds, 0));
  console.log(`${slow.length} of ${files.length} files are slow; all files took ${sum} s.`);
} finally {
  rmSync(directory, { recursive: true });
}
