import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { meanCpuMs, measure } from '../lib/measure.js';
import { freshPath } from '../lib/places.js';
import {
  buildProject,
  compiler,
  plainEnvironment,
  product,
  scaffold,
  selfCheckArguments,
} from '../lib/product.js';
import { atMost, figure, withSpread } from '../lib/section.js';
import { interleaved, pairedRatio, spreadOf } from '../lib/statistics.js';

/** @import { Part } from '../lib/section.js' */

const env = plainEnvironment;
const install = ['install', '--no-audit', '--no-fund'];

/** @type {Part} */
export const fromNothing = {
  name: 'from-nothing',
  async run({ quick }) {
    const whole = `\`create-market-mcp\`: scaffold, install, build, self-check`;
    const bare = '`npm install` of the same package.json';
    const files = scaffold();
    bareInstall(files); // warms npm's cache
    const runs = await interleaved(
      quick ? 1 : 7,
      new Map([
        [whole, () => createWhole()],
        [bare, () => bareInstall(files)],
      ]),
    );
    const times = new Map([...runs].map(([name, costs]) => [name, costs.map(({ ms }) => ms)]));
    const ratio = pairedRatio(times.get(whole) ?? [], times.get(bare) ?? []);

    const project = buildProject();
    const steps = await interleaved(
      quick ? 1 : 7,
      new Map([
        ['scaffold', () => timeOf(process.execPath, createArguments(['--no-install']), emptyDirectory())],
        ['build', () => timeOf(process.execPath, [compiler(project)], project)],
        ['self-check', () => timeOf(process.execPath, selfCheckArguments(), project)],
      ]),
    );
    return {
      title: 'From nothing to a green self-check',
      text: "One command against npm alone, with the same warm cache of npm. The command lets npm go by what it has cached (`--prefer-offline`), the bare install is npm's default. The steps are measured one by one, too; `install` is npm's own.",
      tables: [
        {
          head: ['', 's', 'CPU s'],
          rows: [...runs].map(([name, costs]) => [
            name,
            withSpread(costs.map(({ ms }) => ms / 1000)),
            figure(meanCpuMs(costs) / 1000),
          ]),
        },
        {
          head: ['where the time goes', 'ms'],
          rows: [
            ...[...steps].map(([name, times]) => [name, withSpread(times)]),
            ['install', withSpread(times.get(bare) ?? [])],
          ],
        },
      ],
      reaches: [
        atMost('from nothing to green against `npm install`', ratio, 1.5),
        atMost(
          'self-check of the default project',
          spreadOf((steps.get('self-check') ?? []).map((ms) => ms / 1000)),
          3,
          's',
        ),
      ],
      notes: [],
    };
  },
};

/** @param {readonly string[]} flags */
function createArguments(flags) {
  return [product().create, 'made', '--yes', '--no-git', ...flags];
}

function createWhole() {
  return measure(process.execPath, createArguments([]), { cwd: emptyDirectory(), env });
}

/** @param {string} files of a project that is not installed */
function bareInstall(files) {
  const cwd = emptyDirectory();
  for (const name of ['package.json', 'vendor'])
    cpSync(join(files, name), join(cwd, name), { recursive: true });
  return measure('npm', install, { cwd, env });
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function timeOf(command, args, cwd) {
  return measure(command, args, { cwd, env }).ms;
}

function emptyDirectory() {
  const directory = freshPath('empty');
  mkdirSync(directory);
  return directory;
}
