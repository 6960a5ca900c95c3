import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { expectAllRules, failuresOf, idleRules, prove, scaffold, scratch } from './support.ts';
import { hostileText, variants } from './variants.ts';

const root = scratch();
/** Rules that may lack a subject in a variant: an input, an enum, an example, a limit of the platform. */
const mayBeIdle = new Set<string>([
  ...idleRules,
  'result.failure-fits',
  'outcome.empty',
  'outcome.failure-payload',
  'outcome.empty-signal',
  'call.no-retry-word',
  'call.wrong-arguments',
  // With a fallback key in the profile, every server has a key.
  'process.no-key',
]);

describe.concurrent('a generated project is built, started and self-checked', () => {
  it.each(variants)('$name', async ({ name, args, spec, platform, advised = [] }) => {
    const files = { spec: join(root, `${name}.spec.json`), platform: join(root, `${name}.platform.json`) };
    if (spec) writeFileSync(files.spec, JSON.stringify(spec));
    if (platform) writeFileSync(files.platform, JSON.stringify(platform({ ...generic })));
    const created = await scaffold(
      [
        name,
        ...args,
        ...(spec ? ['--spec', files.spec] : []),
        ...(platform ? ['--platform', files.platform] : []),
      ],
      { cwd: root },
    );
    const { report, unitTests } = await prove(created.directory);
    const failed = report.rules.filter(({ status }) => status === 'fail');
    expect(failuresOf({ rules: failed.filter(({ id }) => !advised.includes(id)) })).toEqual([]);
    expect(failed.filter(({ level }) => level === 'should').map(({ id }) => id)).toEqual(advised);
    expect(report.ok).toBe(true);
    expectAllRules(report);
    const idle = report.rules.filter(({ status }) => status === 'not-run').map(({ id }) => id);
    expect(idle.filter((id) => !mayBeIdle.has(id))).toEqual([]);
    expect(unitTests, unitTests.stdout).toMatchObject({ status: 0 });
  });
});

describe('hostile text', () => {
  it('is served unchanged', async () => {
    const { tools } = await import(join(root, 'hostile/dist/src/tools/index.js'));
    expect(tools[0].description).toBe(hostileText);
    expect(tools[0].inputSchema.properties.constructor.description).toBe(hostileText);
  });

  it('does not occur in the workflow and package.json', () => {
    for (const file of ['package.json', '.github/workflows/ci.yml', 'Dockerfile']) {
      expect(readFileSync(join(root, 'hostile', file), 'utf8')).not.toContain('<script>');
    }
  });
});
