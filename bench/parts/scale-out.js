import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load as loadModule } from '../../scripts/load.js';
import { call, identitiesFor } from '../lib/contestants.js';
import { load } from '../lib/load.js';
import { repository } from '../lib/places.js';
import { buildProject, specOf } from '../lib/product.js';
import { roundRobin } from '../lib/proxy.js';
import { figure, withSpread } from '../lib/section.js';
import { startServer } from '../lib/server.js';
import { interleaved, pairedRatio } from '../lib/statistics.js';

/** @import { Running } from '../lib/server.js' */
/** @import { Part } from '../lib/section.js' */

const processes = 3;

/** @type {Part} */
export const scaleOut = {
  name: 'scale-out',
  async run({ quick }) {
    const project = buildProject(['--spec', specOf(3)]);
    const sources = ['run.ts', 'wire/signer.ts', 'platforms/all.ts'];
    const modules = sources.map((file) => loadModule(join(repository, 'packages/contract/src', file)));
    const [{ runContract }, { createSigner }, platforms] = await Promise.all(modules);
    const profile = platforms.generic;
    const { tools } = await import(pathToFileURL(join(project, 'dist/src/tools/index.js')).href);
    const proxy = await roundRobin();
    /** @type {Running[]} */
    const servers = [];
    try {
      const signer = await createSigner(profile.token, proxy.url);
      const env = {
        PLATFORM_PUBLIC_KEY: signer.publicKey,
        PLATFORM_ISSUER: signer.issuer,
        PLATFORM_AUDIENCE: proxy.url,
        SESSION_SECRET: randomBytes(32).toString('hex'),
        NODE_ENV: 'development', // an audience over plain HTTP
        ALLOWED_HOSTS: '*', // as in production
      };
      for (let count = 0; count < processes; count += 1) {
        servers.push(await startServer(join(project, 'dist/src/main.js'), env, { pin: false }));
      }
      const origins = servers.map(({ origin }) => origin);
      proxy.forwardTo(origins);
      const examples = new Map(tools.map((/** @type {any} */ { name, examples }) => [name, examples]));
      const report = await runContract({ url: proxy.url, profile, examples, signer });

      const token = await signer.token();
      const [first] = servers;
      if (!first) throw new Error('no server');
      const perSecond = async (/** @type {string} */ url) => {
        const identities = await identitiesFor({ ...first, url }, { sessions: true, token });
        const job = { url, pid: first.pid, method: 'tools/call', params: call, identities };
        const result = await load({ ...job, warmUp: { duration: 1 }, extent: { duration: quick ? 1 : 3 } });
        return result.perSecond;
      };
      const behind = async (/** @type {number} */ count) => {
        proxy.forwardTo(origins.slice(0, count));
        return perSecond(proxy.url);
      };
      const direct = 'one process, no proxy';
      const one = 'one process behind the proxy';
      const all = `${processes} processes behind the proxy`;
      const runs = await interleaved(
        quick ? 1 : 3,
        new Map([
          [direct, () => perSecond(first.url)],
          [one, () => behind(1)],
          [all, () => behind(processes)],
        ]),
      );
      const ratio = pairedRatio(runs.get(all) ?? [], runs.get(one) ?? []);
      const { passed, failed, notRun } = report.summary;
      return {
        title: 'Scale-out',
        text: `${processes} processes of one generated server with the same SESSION_SECRET behind a round-robin proxy: every request of a session meets another process. Nothing is pinned.`,
        tables: [
          {
            head: ['tools/call, one token', 'requests/s'],
            rows: [...runs].map(([name, figures]) => [name, withSpread(figures)]),
          },
        ],
        reaches: [
          {
            what: 'self-check through the proxy',
            bound: 'no rule fails',
            figure: `${figure(passed)} passed, ${figure(failed)} failed, ${figure(notRun)} not run`,
            reached: report.ok && failed === 0,
          },
        ],
        notes: [
          `${processes} processes against one, both behind the proxy: ${withSpread(ratio)} ×. Proxy, processes and load share the machine's cores.`,
          ...failuresOf(report),
        ],
      };
    } finally {
      proxy.close();
      for (const { stop } of servers) await stop();
    }
  },
};

/** @param {any} report @returns {string[]} */
function failuresOf({ rules }) {
  return rules
    .filter((/** @type {any} */ { status }) => status === 'fail')
    .map((/** @type {any} */ { id, problems }) => `${id}: ${JSON.stringify(problems[0])}`);
}
