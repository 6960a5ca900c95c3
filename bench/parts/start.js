import { childrenCpuMs, measure } from '../lib/measure.js';
import { buildProject, plainEnvironment } from '../lib/product.js';
import { atMost, withSpread } from '../lib/section.js';
import { startServer } from '../lib/server.js';
import { interleaved, pairedRatio } from '../lib/statistics.js';
import { audience, issuer, publicKeyPem } from '../lib/tokens.js';

/** @import { Part } from '../lib/section.js' */

const bare = 'node -e 0';
const ours = 'the generated server, as `npm start` does';
/** So many starts make one figure: the clock of processor time has steps of 10 ms. */
const together = 5;

/** @type {Part} */
export const starts = {
  name: 'start',
  async run({ quick }) {
    const entry = `${buildProject()}/dist/src/main.js`;
    const env = {
      ...plainEnvironment,
      NODE_ENV: 'production',
      PLATFORM_PUBLIC_KEY: publicKeyPem,
      PLATFORM_ISSUER: issuer,
      PLATFORM_AUDIENCE: audience,
    };
    const start = async () => {
      const { stop } = await startServer(entry, env, { pin: false, nodeArguments: ['--enable-source-maps'] });
      await stop();
    };
    const costs = await interleaved(
      quick ? 1 : 9,
      new Map([
        [bare, () => costOf(() => measure(process.execPath, ['-e', '0'], { env: plainEnvironment }))],
        [ours, () => costOf(start)],
      ]),
    );
    const [least = [], own = []] = [...costs.values()];
    const ratio = pairedRatio(own, least);
    return {
      title: 'The start of a server',
      text: `CPU time of a process from its start to the first healthy answer; each figure is the mean of ${together} starts, both in the environment of the benchmark: variables such as NODE_EXTRA_CA_CERTS lengthen every start of Node 20. A host that scales to zero pays it for each first call.`,
      tables: [
        {
          head: ['process', 'CPU ms'],
          rows: [...costs].map(([name, runs]) => [name, withSpread(runs)]),
        },
      ],
      reaches: [atMost(`start of the generated server against \`${bare}\`, by CPU`, ratio, 2.1)],
      notes: [],
    };
  },
};

/** Milliseconds of CPU time of one run. @param {() => unknown} run */
async function costOf(run) {
  const before = childrenCpuMs();
  for (let i = 0; i < together; i += 1) await run();
  return (childrenCpuMs() - before) / together;
}
