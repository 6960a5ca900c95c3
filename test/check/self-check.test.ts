import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { buildProject } from '../../src/check/build-project.ts';
import { openForCheck } from '../../src/check/check-project.ts';
import { selfCheck } from '../../src/check/self-check.ts';
import { directory } from '../project/directory.ts';

/** A project whose built server is the given program. */
function project(program: string): string {
  const root = directory();
  mkdirSync(join(root, 'dist/src/tools'), { recursive: true });
  const scripts = { build: 'node build.js' };
  writeFileSync(join(root, 'package.json'), JSON.stringify({ type: 'module', scripts }));
  const answers = { name: 'made', packageManager: 'npm', profile: 'generic', tools: [] };
  const manifest = { schema: 3, template: '0.3.0', platform: 'generic', answers, files: {} };
  writeFileSync(join(root, 'market-mcp.json'), JSON.stringify(manifest));
  writeFileSync(join(root, 'dist/src/main.js'), program);
  writeFileSync(join(root, 'dist/src/platform.js'), `export const platform = ${JSON.stringify(generic)};`);
  writeFileSync(join(root, 'dist/src/tools/index.js'), 'export const tools = [];');
  return root;
}

const healthy = `
import { createServer } from 'node:http';
createServer((request, response) => {
  response.statusCode = request.url === '/health' ? 200 : 404;
  response.end();
}).listen(process.env.PORT, '127.0.0.1');`;

describe('the self-check of a project', () => {
  it('reports on its server, with progress', async () => {
    const seen: number[] = [];
    const report = await selfCheck(openForCheck(project(healthy)), (_, done) => seen.push(done));
    expect(report.ok).toBe(false);
    expect(report.rules.length).toBe(seen.length);
    expect(seen).toEqual(seen.map((_, index) => index + 1));
  });

  it('reports the output of a server that does not start', async () => {
    const root = project("console.error('PORT: no number'); process.exitCode = 1;");
    await expect(selfCheck(openForCheck(root), () => {})).rejects.toMatchObject({
      code: 'NOT_STARTED',
      message: 'the server does not start',
      details: ['PORT: no number'],
    });
  });

  it('reports the error that ends its server once, with its place', async () => {
    const root = project("throw new Error('no database');");
    await expect(selfCheck(openForCheck(root), () => {})).rejects.toMatchObject({
      message: 'the server does not start',
      details: ['Error: no database', expect.stringContaining('main.js:1')],
    });
  });

  it('reports the error that prevents its tools from being loaded', async () => {
    const root = project(healthy);
    writeFileSync(join(root, 'dist/src/tools/index.js'), "throw new Error('no such table')");
    await expect(selfCheck(openForCheck(root), () => {})).rejects.toMatchObject({
      code: 'NOT_STARTED',
      details: expect.arrayContaining([expect.stringContaining('no such table')]),
    });
  });

  it('ends the server that starts beside tools that cannot be loaded', async () => {
    const root = project(`${healthy}
      import { writeFileSync } from 'node:fs';
      writeFileSync('pid', String(process.pid));`);
    writeFileSync(join(root, 'dist/src/tools/index.js'), "throw new Error('no such table')");
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await expect(openForCheck(root, { privateKey: Promise.resolve(privateKey) })).rejects.toThrow();
    const pid = Number(readFileSync(join(root, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('reports that a project is not built', async () => {
    await expect(selfCheck(openForCheck(directory()), () => {})).rejects.toMatchObject({
      code: 'NOT_STARTED',
      message: expect.stringContaining('the project is not built'),
    });
  });
});

describe('a build', () => {
  it("reports the compiler's output if it fails", async () => {
    const root = project('');
    writeFileSync(join(root, 'build.js'), "console.log('src/a.ts(1,1): error'); process.exitCode = 2");
    await expect(buildProject(root, 'npm')).rejects.toMatchObject({
      code: 'BUILD_FAILED',
      details: expect.arrayContaining(['src/a.ts(1,1): error']),
    });
  });

  it('names the place of an error, as the server in development does', async () => {
    const root = project('');
    const says = "src/a.ts(61,22): error TS2322: Type 'number' is not assignable to type 'string'.";
    writeFileSync(join(root, 'build.js'), `console.log(${JSON.stringify(says)}); process.exitCode = 2`);
    await expect(buildProject(root, 'npm')).rejects.toMatchObject({
      code: 'BUILD_FAILED',
      details: ["src/a.ts:61 TS2322: Type 'number' is not assignable to type 'string'."],
      hint: 'Correct src/a.ts:61',
    });
  });

  it('names the command that installs the compiler, if there is none', async () => {
    const root = directory();
    writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: { build: 'tsc' } }));
    await expect(buildProject(root, 'pnpm')).rejects.toMatchObject({
      hint: 'Install its packages, including those for development: pnpm install --prod=false',
    });
  });

  it('prints nothing if it succeeds', async () => {
    const root = project('');
    writeFileSync(join(root, 'build.js'), '');
    await expect(buildProject(root, 'npm')).resolves.toBeUndefined();
  });
});
