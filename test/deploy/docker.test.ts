import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { execa } from 'execa';
import { afterAll, describe, expect, it } from 'vitest';
import type { CheckReport } from '../../packages/contract/src/check/check-report.ts';
import { expectChecked, fromRates, ratesDocument } from '../e2e/rates.ts';
import { bins, create, scratch } from '../e2e/support.ts';
import { freePort } from '../ports.ts';
import { issuer, live, platformKey, publicKey } from '../runtime/support.ts';
import { engineHere, engineRun } from './engine.ts';
import { recordProof, untilHealthy } from './figures.ts';
import { playPod, whyNoPods } from './pod.ts';

const found = await engineHere();
const engine = typeof found === 'string' ? undefined : found;
const root = scratch();

/** `check --deploy` of a project, with the engine of this machine. */
function checkImage(project: string, flags: readonly string[] = [], target = 'docker') {
  const args = [bins.market, 'check', project, '--deploy', target, ...flags];
  return execa(process.execPath, args, { env: engine?.env ?? {}, reject: false });
}

/** What a shell prints inside an image, without its server. */
async function inside(image: string, script: string): Promise<string> {
  const run = ['run', '--rm', '--network', 'host', '--entrypoint', 'sh', image, '-c', script];
  const { stdout } = await engineRun(engine ?? fail(), run);
  return stdout;
}

function fail(): never {
  throw new Error('no engine');
}

async function containersLeft(): Promise<string> {
  const { stdout } = await engineRun(engine ?? fail(), [
    ...['ps', '--all', '--filter', 'name=market-mcp-check', '--format', '{{.Names}}'],
  ]);
  return stdout;
}

const skipped = typeof found === 'string' ? ` (skipped: ${found})` : '';
if (typeof found === 'string') {
  console.log(`No image is run: ${found}`);
  const notRun = `${found}. Start Docker, or \`apt-get install podman runc debootstrap\``;
  for (const target of ['docker', 'vercel']) recordProof(target, { notRun });
}

const podless = await whyNoPods(engine);
if (podless !== undefined) {
  recordProof('kubernetes', { notRun: `${podless}. \`apt-get install podman runc debootstrap catatonit\`` });
}

/** Starts an image as in production. Returns the milliseconds until /health answers. */
async function coldStart(image: string): Promise<number> {
  const port = await freePort();
  const settings = { ...live, PORT: String(port), RATES_URL: 'https://rates.example' };
  const env = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const name = `market-mcp-check-start-${port}`;
  const since = performance.now();
  const server = engineRun(engine ?? fail(), [
    ...['run', '--rm', '--name', name, '--network', 'host', '--read-only', '--tmpfs', '/tmp', ...env, image],
  ]);
  try {
    return await untilHealthy(`http://127.0.0.1:${port}`, since);
  } finally {
    await engineRun(engine ?? fail(), ['rm', '--force', name]);
    await server;
  }
}

describe.skipIf(!engine)(`check --deploy${skipped}`, () => {
  afterAll(async () => {
    if (engine)
      await engineRun(engine, ['rmi', '--force', 'plain:checked', 'rates:checked', 'changed:checked']);
  });

  const projects = [
    { name: 'plain', flags: ['--deploy', 'kubernetes'], target: 'docker', maxBytes: 3_600_000 },
    // Its image must not need .dockerignore: Vercel's program does not upload it.
    { name: 'rates', flags: [...fromRates, '--deploy', 'vercel'], target: 'vercel', maxBytes: 7_500_000 },
  ];
  it.each(projects)(
    'passes every rule in the image of the project $name for $target',
    async ({ name, flags, target, maxBytes }) => {
      writeFileSync(join(root, 'api.json'), JSON.stringify(ratesDocument('https://rates.example')));
      const more = ['--yes', '--no-git', '--no-check', '--package-manager', 'npm'];
      const created = await create([name, ...flags, ...more], { cwd: root });
      expect(created.status, created.stderr).toBe(0);

      if (target === 'vercel') rmSync(join(root, name, '.dockerignore'));
      const checked = await checkImage(join(root, name), ['--json'], target);
      expect(checked.exitCode, checked.stderr).toBe(0);
      const { summary, rules }: CheckReport = JSON.parse(checked.stdout);
      expect(summary.failed).toBe(0);
      const ofProcess = rules.filter(({ id }) => id.startsWith('process.'));
      expect(ofProcess.length).toBeGreaterThan(5);
      expect(ofProcess.filter(({ status }) => status !== 'pass')).toEqual([]);
      expect(await containersLeft()).toBe('');

      const image = `${name}:checked`;
      expect(await inside(image, 'id -u')).toBe('1000');
      const bytes = Number(/^\d+/.exec(await inside(image, 'du --apparent-size -sb /app'))?.[0]);
      expect(bytes).toBeLessThan(maxBytes);
      const files = await inside(image, 'find /app -type f -not -path "*/node_modules/*"');
      expect(files).toContain('/app/dist/src/main.js');
      expect(files).not.toMatch(/\/vendor\/|\/test\/|\/app\/src\/|\/\.env/);
      expect(await inside(image, 'ls /app/node_modules')).not.toContain('create-market-mcp');

      const { stdout: version } = await engineRun(engine ?? fail(), ['--version']);
      recordProof(target, {
        how: `\`check --deploy ${target}\`: a project ${name === 'rates' ? 'with an API' : 'without an API'}, ${version}`,
        rules: `${summary.passed} passed, ${summary.failed} failed, ${summary.notRun} without a subject`,
        bytes,
        coldStartMs: await coldStart(image),
      });
    },
  );

  it.skipIf(podless !== undefined)(
    `passes the contract in a pod of its Deployment${podless === undefined ? '' : ` (skipped: ${podless})`}`,
    async () => {
      const key = 'a secret of thirty-two characters';
      const secrets = { SESSION_SECRET: key, PLATFORM_ISSUER: issuer, PLATFORM_PUBLIC_KEY: publicKey };
      const since = performance.now();
      const {
        origin,
        inside: inPod,
        remove,
      } = await playPod(engine ?? fail(), join(root, 'plain'), 'localhost/plain:checked', secrets);
      try {
        const coldStartMs = await untilHealthy(origin, since);
        const { passed } = await expectChecked(origin, root, platformKey, {
          issuer,
          audience: 'https://tools.example.com/mcp',
        });
        const status = await inPod('id -u; grep -E "^(CapBnd|NoNewPrivs):" /proc/self/status');
        expect(status.split(/\s+/)).toEqual(['1000', 'CapBnd:', '0'.repeat(16), 'NoNewPrivs:', '1']);
        const written = await inPod('touch /tmp/written /app/written 2>&1');
        expect(written).toBe("touch: cannot touch '/app/written': Read-only file system");
        recordProof('kubernetes', {
          how: 'the objects typed, built and compared; the Deployment run by `podman play kube`, at the address of its pod',
          rules: `${passed} passed, 0 failed`,
          coldStartMs,
        });
      } finally {
        await remove();
      }
    },
  );

  it('names what a changed Dockerfile breaks, in the build and at the start', async () => {
    const project = join(root, 'changed');
    cpSync(join(root, 'plain'), project, { recursive: true });
    const dockerfile = join(project, 'Dockerfile');
    const good = readFileSync(dockerfile, 'utf8');
    writeFileSync(dockerfile, good.replace('npm run build', 'npm run nothing'));
    const unbuilt = await checkImage(project, ['--no-build', '--json']);
    expect(unbuilt.exitCode).toBe(3);
    expect(JSON.parse(unbuilt.stdout).error).toMatchObject({ code: 'IMAGE_NOT_BUILT' });
    expect(unbuilt.stdout).toContain('Missing script');

    writeFileSync(dockerfile, good.replace(/^COPY --from=build .*$/m, ''));
    const unstarted = await checkImage(project, ['--no-build', '--json']);
    expect(unstarted.exitCode).toBe(3);
    expect(JSON.parse(unstarted.stdout).error).toMatchObject({ code: 'NOT_STARTED' });
    expect(unstarted.stdout).toContain("Cannot find module '/app/dist/src/main.js'");
    expect(unstarted.stdout).toContain('--entrypoint sh changed:checked');

    const unreadable = good.replace('RUN chmod -R a+rX .', 'RUN chmod -R go-r package.json');
    writeFileSync(dockerfile, unreadable);
    const refused = await checkImage(project, ['--no-build', '--json']);
    expect(refused.exitCode).toBe(3);
    expect(JSON.parse(refused.stdout).error).toMatchObject({
      code: 'NOT_STARTED',
      message: expect.stringMatching(/its user, node, cannot read \/app\/package\.json$/),
      hint: expect.stringContaining('RUN chmod -R a+rX .'),
    });
  });

  it('leaves no container if it is interrupted', async () => {
    const check = checkImage(join(root, 'plain'), ['--no-build']);
    while (check.exitCode === null && (await containersLeft()) === '') await setTimeout(200);
    check.kill('SIGINT');
    expect((await check).exitCode).toBe(130);
    expect(await containersLeft()).toBe('');
  });
});
