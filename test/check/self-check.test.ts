import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { build, type Progress, selfCheck } from '../../src/check/self-check.ts';
import { directory } from '../project/directory.ts';

/** A project whose self-check is the given program. */
function project(program: string): string {
  const root = directory();
  mkdirSync(join(root, 'dist/self-check'), { recursive: true });
  writeFileSync(
    join(root, 'package.json'),
    JSON.stringify({ type: 'module', scripts: { build: 'node build.js' } }),
  );
  writeFileSync(join(root, 'dist/self-check/main.js'), program);
  return root;
}

const report = {
  ok: false,
  target: 'x',
  platform: 'generic',
  rules: [],
  summary: { passed: 1, failed: 2, notRun: 3, ms: 4 },
};

describe('the self-check of a project', () => {
  it('reports, and says how far it is', async () => {
    const root = project(`
      console.error(JSON.stringify({ done: 1, total: 2, id: 'gate.no-token', status: 'pass' }));
      console.error('a warning of the server');
      console.error(JSON.stringify({ done: 2, total: 2, id: 'call.text', status: 'fail' }));
      console.log(${JSON.stringify(JSON.stringify(report))});
      process.exitCode = 1;
    `);
    const seen: Progress[] = [];
    expect(await selfCheck(root, (progress) => seen.push(progress))).toEqual(report);
    expect(seen.map(({ id, status }) => `${id} ${status}`)).toEqual(['gate.no-token pass', 'call.text fail']);
  });

  it('that finds no server says its last words', async () => {
    const words = JSON.stringify({
      error: { code: 'NOT_STARTED', message: 'Its last words:\n  PORT: no number' },
    });
    const root = project(`console.error(${JSON.stringify(words)}); process.exitCode = 3;`);
    await expect(selfCheck(root, () => {})).rejects.toMatchObject({
      code: 'NOT_STARTED',
      lines: ['Its last words:', '  PORT: no number'],
    });
  });

  it('that is not built says so', async () => {
    await expect(selfCheck(directory(), () => {})).rejects.toMatchObject({ code: 'NOT_STARTED' });
  });
});

describe('a build', () => {
  it('that fails says what the compiler said', async () => {
    const root = project('');
    writeFileSync(join(root, 'build.js'), "console.log('src/a.ts(1,1): error'); process.exitCode = 2");
    await expect(build(root, 'npm')).rejects.toMatchObject({
      code: 'BUILD_FAILED',
      lines: expect.arrayContaining(['src/a.ts(1,1): error']),
    });
  });

  it('that succeeds is silent', async () => {
    const root = project('');
    writeFileSync(join(root, 'build.js'), '');
    await expect(build(root, 'npm')).resolves.toBeUndefined();
  });
});
