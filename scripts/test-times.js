import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

// Prints how long each part of the tests takes, as the table of docs/testing.md, on a machine that does nothing else:
//
//   npm run -s test:times -- [--more] [--only <part>[,<part>]]

const given = process.argv.slice(2);
const only = given.includes('--only') ? given[given.indexOf('--only') + 1]?.split(',') : undefined;
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const projectsOf = (script) => [...script.matchAll(/--project (\w+)/g)].map(([, project]) => project);
const testing = (project) => [`\`${project}\``, ['npx', 'vitest', 'run', '--project', project]];

/** Every part in the order in which `npm test` and `npm run test:more` run them. */
const parts = new Map([
  ['packages installed (`npm ci`)', ['npm', 'ci', '--no-audit', '--no-fund']],
  ['build', ['npm', 'run', 'build']],
  ['types', ['npm', 'run', 'typecheck']],
  ['lint', ['npm', 'run', 'lint']],
  ...projectsOf(scripts.test).map(testing),
  ...(given.includes('--more') || only ? projectsOf(scripts['test:more']).map(testing) : []),
]);
const wanted = [...parts].filter(([title]) => !only || only.includes(title.replaceAll('`', '')));
if (wanted.length === 0) {
  console.error(`No part is named ${only}. Parts: ${[...parts.keys()].join(', ').replaceAll('`', '')}`);
  process.exit(2);
}

let sum = 0;
console.log('| part | seconds |\n| --- | ---: |');
for (const [title, [file, ...args]] of wanted) {
  const started = performance.now();
  const { status } = spawnSync(file, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const seconds = Math.round((performance.now() - started) / 1000);
  sum += seconds;
  console.log(`| ${title} | ${status === 0 ? seconds : `${seconds}, failed`} |`);
  if (status !== 0) process.exitCode = 1;
}
console.log(`| all of these | ${sum} |`);
