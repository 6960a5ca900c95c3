import { spawnSync } from 'node:child_process';

// Prints the duration of each part of the tests, as the table of docs/testing.md. Run it on an idle machine.

const more = process.argv.includes('--more');
const vitest = (project) => ['npx', 'vitest', 'run', '--project', project];

/** The parts in the order in which `npm test` and `npm run test:more` run them. */
const parts = new Map([
  ['packages installed (`npm ci`)', ['npm', 'ci', '--no-audit', '--no-fund']],
  ['build', ['npm', 'run', 'build']],
  ['types', ['npm', 'run', 'typecheck']],
  ['lint', ['npm', 'run', 'lint']],
  ['`unit`', vitest('unit')],
  ['`scaffold`', vitest('scaffold')],
]);
const moreParts = ['hostile', 'e2e', 'browser', 'registry', 'bench', 'attacks', 'reliability', 'endurance'];
if (more) for (const project of moreParts) parts.set(`\`${project}\``, vitest(project));

let sum = 0;
console.log('| part | seconds |\n| --- | ---: |');
for (const [title, [file, ...args]] of parts) {
  const started = performance.now();
  const { status } = spawnSync(file, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const seconds = Math.round((performance.now() - started) / 1000);
  sum += seconds;
  console.log(`| ${title} | ${status === 0 ? seconds : `${seconds}, failed`} |`);
  if (status !== 0) process.exitCode = 1;
}
console.log(`| all of these | ${sum} |`);
