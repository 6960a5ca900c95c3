import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { earlierVersion } from '../lib/earlier-version.js';
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
import { interleaved, pairedRatio } from '../lib/statistics.js';

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
      quick ? 1 : 5,
      new Map([
        [whole, () => createWhole(product().create)],
        [bare, () => bareInstall(files)],
      ]),
    );
    const times = new Map([...runs].map(([name, costs]) => [name, costs.map(({ ms }) => ms)]));
    const selfCheck = 'self-check';
    const selfCheckBefore = 'self-check by version 0.4.0';
    const marketBefore = join(earlierVersion('0.4.0'), 'bin/market-mcp.js');
    const project = buildProject();
    const steps = await interleaved(
      quick ? 1 : 5,
      new Map([
        [
          'scaffold',
          () =>
            costOf(process.execPath, createArguments(product().create, ['--no-install']), emptyDirectory()),
        ],
        ['build', () => costOf(process.execPath, [compiler(project)], project)],
        [selfCheck, () => costOf(process.execPath, selfCheckArguments(), project)],
        [selfCheckBefore, () => costOf(process.execPath, selfCheckArguments(marketBefore), project)],
      ]),
    );
    const cpu = (/** @type {string} */ step) => steps.get(step)?.map(({ cpuMs }) => cpuMs) ?? [];
    return {
      title: 'From nothing to a green self-check',
      text: "One command, and npm alone, with the same warm cache of npm. The command lets npm go by what it has cached (`--prefer-offline`), the bare install is npm's default. The steps are measured one by one, too; `install` is npm's own.",
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
            ...[...steps].map(([name, costs]) => [name, withSpread(costs.map(({ ms }) => ms))]),
            ['install', withSpread(times.get(bare) ?? [])],
          ],
        },
      ],
      reaches: [
        atMost(
          'from nothing to green against `npm install`',
          pairedRatio(times.get(whole) ?? [], times.get(bare) ?? []),
          1.8,
        ),
        atMost(
          'self-check of the default project against version 0.4.0, by CPU',
          pairedRatio(cpu(selfCheck), cpu(selfCheckBefore)),
          1.2,
        ),
      ],
      notes: [],
    };
  },
};

/** @param {string} program @param {readonly string[]} [flags] */
function createArguments(program, flags = []) {
  return [program, 'made', '--yes', '--no-git', ...flags];
}

/** @param {string} program `create-market-mcp` of one version */
function createWhole(program) {
  return measure(process.execPath, createArguments(program), { cwd: emptyDirectory(), env });
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
function costOf(command, args, cwd) {
  return measure(command, args, { cwd, env });
}

function emptyDirectory() {
  const directory = freshPath('empty');
  mkdirSync(directory);
  return directory;
}
