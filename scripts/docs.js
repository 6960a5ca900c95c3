import { spawnSync } from 'node:child_process';

// Writes a document that contains results: builds the product, then runs the commands of that document.
//
//   npm run docs <name> [-- <options of its last command>]

const vitest = 'npx vitest run';
const evidence = (/** @type {string} */ project) =>
  `${vitest} --config evidence/vitest.config.ts --project ${project}`;
const update = (/** @type {string} */ file) => `${vitest} ${file} -u`;

/** Name → the commands, the last of which gets the options. @type {ReadonlyMap<string, readonly string[]>} */
const writers = new Map([
  ['clients', ['node evidence/clients/run.js']],
  ['deploy', ['node scripts/deploy-table.js']],
  ['errors', [update('test/errors-document.test.ts')]],
  ['foreign-servers', [evidence('foreign-servers')]],
  ['fuzz', ['node evidence/fuzz/run.js']],
  ['openapi', ['node evidence/openapi-documents/run.js']],
  ['pictures', ['node scripts/pictures.js']],
  ['project', [update('test/project-document.test.ts')]],
  ['real-tools', [evidence('real-tools')]],
  ['reliability', [`NIGHTLY=1 ${vitest} test/reliability/`, 'node evidence/reliability-figures.js']],
  ['requests', [update('test/e2e/from-request.test.ts')]],
  ['rules', [update('test/contract/rules-document.test.ts')]],
  ['runtime', [update('test/runtime/api.test.ts')]],
  ['scaling', ['node bench/run.js --only replica --out dist/scaling', 'node scripts/scaling-doc.js']],
  ['terminal', [update('test/e2e/screens.test.ts')]],
  ['troubleshooting', [update('test/e2e/troubleshooting.test.ts')]],
  ['upgrades', [`UPGRADES_PAGE=1 ${vitest} test/upgrade/upgrades.test.ts`]],
  ['tutorial', [`TUTORIAL_PAGE=1 ${vitest} test/e2e/tutorial.test.ts`]],
]);

const [name = '', ...options] = process.argv.slice(2);
const commands = writers.get(name);
if (!commands) {
  const given = name === '' ? 'No document is named' : `No document is named ${JSON.stringify(name)}`;
  console.error(`${given}. Write: npm run docs <name>. Names: ${[...writers.keys()].join(', ')}.`);
  process.exit(2);
}
for (const [index, command] of ['npm run build', ...commands].entries()) {
  const isLast = index === commands.length;
  // The shell sets the variables before a command; options follow as they are.
  const line = isLast ? [`${command} "$@"`, name, ...options] : [command];
  const { status } = spawnSync('sh', ['-c', ...line], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
