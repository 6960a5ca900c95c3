import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { meanCpuMs, measure } from '../lib/measure.js';
import { binOf, titleOf } from '../lib/peers.js';
import { benchDirectory, freshPath } from '../lib/places.js';
import { plainEnvironment, product, scaffold as scaffoldOurs, sizeOf } from '../lib/product.js';
import { atMost, figure, withSpread } from '../lib/section.js';
import { interleaved, pairedRatio } from '../lib/statistics.js';

/** @import { Part, Section } from '../lib/section.js' */

const vite = 'create-vite';
const framework = 'mcp-framework';

/** Programs that create a TypeScript project named `made` without installing. */
const peers = new Map([
  [vite, ['made', '--template', 'vanilla-ts', '--no-interactive', '--no-immediate']],
  ['sv', ['create', 'made', '--template', 'minimal', '--types', 'ts', '--no-add-ons', '--no-install']],
  [framework, ['create', 'made', '--no-install']],
  ['@modelcontextprotocol/create-server', ['made', '--name', 'made', '--description', 'Made to measure.']],
]);

/** @type {Part} */
export const scaffold = {
  name: 'scaffold',
  async run({ quick }) {
    const rounds = quick ? 3 : 15;
    const created = await compareCreation(rounds);
    const grown = await compareGrowth(rounds);
    return {
      title: 'Scaffold without install',
      text: 'A new project in an empty directory, then one more tool in an existing project.',
      tables: [...created.tables, ...grown.tables],
      reaches: created.reaches,
      notes: [...created.notes, ...grown.notes],
    };
  },
};

/**
 * @param {number} rounds
 * @returns {Promise<Pick<Section, 'tables' | 'reaches' | 'notes'>>}
 */
async function compareCreation(rounds) {
  const ours = product().title;
  /** @type {Map<string, { script: string, args: readonly string[] }>} */
  const programs = new Map([
    [ours, { script: product().create, args: ['made', '--yes', '--no-install', '--no-git'] }],
    ...[...peers].map(
      ([name, args]) => /** @type {const} */ ([titleOf(name), { script: binOf(name), args }]),
    ),
    [
      'the same files, written and nothing else',
      { script: join(benchDirectory, 'writer.js'), args: [snapshot()] },
    ],
  ]);
  const runs = await interleaved(
    rounds,
    new Map([...programs].map(([name, { script, args }]) => [name, () => inEmptyDirectory(script, args)])),
  );
  const times = new Map([...runs].map(([name, costs]) => [name, costs.map(({ ms }) => ms)]));
  const cpu = (/** @type {string} */ name) => runs.get(name)?.map(({ cpuMs }) => cpuMs) ?? [];
  return {
    tables: [
      {
        head: ['program', 'ms', 'CPU ms', 'files', 'kB written', 'ours against it', 'by CPU'],
        rows: [...runs].map(([name, costs]) => [
          name,
          withSpread(costs.map(({ ms }) => ms)),
          figure(meanCpuMs(costs)),
          figure(costs[0]?.files ?? Number.NaN),
          figure((costs[0]?.bytes ?? Number.NaN) / 1000),
          `${withSpread(pairedRatio(times.get(ours) ?? [], times.get(name) ?? []))} ×`,
          `${figure(meanCpuMs(runs.get(ours) ?? []) / meanCpuMs(costs))} ×`,
        ]),
      },
    ],
    reaches: [
      atMost('scaffold against create-vite, by CPU', pairedRatio(cpu(ours), cpu(titleOf(vite))), 2.8),
    ],
    notes: [
      `${titleOf(framework)} runs \`git init\` even with \`--no-install\`; the others write files only.`,
    ],
  };
}

/**
 * The files that the product writes, as input of `writer.js`.
 *
 * @returns {string} path of a JSON file
 */
function snapshot() {
  const project = scaffoldOurs();
  const paths = readdirSync(project, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const contents = paths.map((path) => [join('made', relative(project, path)), readFileSync(path, 'utf8')]);
  const file = freshPath('snapshot.json');
  writeFileSync(file, JSON.stringify(Object.fromEntries(contents)));
  return file;
}

/**
 * @param {string} script
 * @param {readonly string[]} args
 */
function inEmptyDirectory(script, args) {
  const cwd = freshPath('empty');
  mkdirSync(cwd);
  const { ms, cpuMs } = measure(process.execPath, [script, ...args], { cwd, env: plainEnvironment });
  return { ms, cpuMs, ...sizeOf(join(cwd, 'made')) };
}

/**
 * @param {number} rounds
 * @returns {Promise<Pick<Section, 'tables' | 'notes'>>}
 */
async function compareGrowth(rounds) {
  const { market, title } = product();
  const env = plainEnvironment;
  if (!measure(process.execPath, [market, '--help'], { env }).stdout.includes('add-tool')) {
    return { tables: [], notes: ['This version has no `market-mcp add-tool`.'] };
  }
  const project = scaffoldOurs();
  const parent = freshPath('peer');
  mkdirSync(parent);
  measure(process.execPath, [binOf(framework), 'create', 'made', '--no-install'], { cwd: parent, env });
  const add = (/** @type {string} */ cwd, /** @type {string[]} */ args) =>
    measure(process.execPath, args, { cwd, env }).ms;
  const theirs = `${titleOf(framework)}, \`add tool\``;
  const ours = `${title}, \`add-tool --no-check\``;
  const times = await interleaved(
    rounds,
    new Map([
      [ours, (round) => add(project, [market, 'add-tool', `tool_${round}`, '--yes', '--no-check'])],
      [theirs, (round) => add(join(parent, 'made'), [binOf(framework), 'add', 'tool', `tool-${round}`])],
    ]),
  );
  return {
    tables: [
      {
        head: ['one more tool', 'ms'],
        rows: [...times].map(([name, runs]) => [name, withSpread(runs)]),
      },
    ],
    notes: [],
  };
}
