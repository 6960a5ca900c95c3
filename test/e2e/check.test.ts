import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { execa } from 'execa';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CheckReport } from '../../packages/contract/src/check/check-report.ts';
import { bins, failuresOf, prove, run, scaffold, scratch } from './support.ts';

const root = scratch();
let project: string;

beforeAll(async () => {
  const result = await scaffold(
    [
      'project',
      '--tool',
      'get_price',
      '--description',
      'Returns a price. Use it when a question names a coin.',
    ],
    { cwd: root },
  );
  project = result.directory;
});

function market(args: readonly string[], cwd = project) {
  return run(process.execPath, [bins.market, 'check', ...args], { cwd });
}

function statuses(report: Pick<CheckReport, 'rules'>): readonly (readonly string[])[] {
  return report.rules.map(({ id, level, status }) => [id, level, status]);
}

describe('market-mcp check of a project', () => {
  it('gives the same verdicts as its self-check, rule by rule, and rehearses the submission', async () => {
    const own = (await prove(project)).report;
    const { status, stdout } = await market(['--json']);
    const report: CheckReport = JSON.parse(stdout);
    expect(failuresOf(own)).toEqual([]);
    expect(statuses(report)).toEqual(statuses(own));
    expect([status, report.ok, report.platform]).toEqual([0, true, own.platform]);
    expect(report.rehearsal).toMatchObject([{ tool: 'get_price', status: 'pass' }]);
    expect(report.drift).toBeUndefined(); // the server was not recorded as listed
  });

  it('runs in any directory, for selected rules, under another platform', async () => {
    const { status, stdout } = await market(
      [
        join(project, 'src/tools'),
        '--json',
        '--platform',
        'context',
        '--only',
        'health',
        '--skip',
        'health.query',
      ],
      root,
    );
    const report: CheckReport = JSON.parse(stdout);
    expect([status, report.platform]).toEqual([0, 'context']);
    const chosen = report.rules.map(({ id }) => id);
    expect(chosen).toContain('health.status');
    expect(chosen.filter((id) => !id.startsWith('health.') || id === 'health.query')).toEqual([]);
  });

  it('compares with the recorded listing and reports that Refresh Skills is needed', async () => {
    await market(['--save-listing', '--only', 'tool']);
    const listing = join(project, 'listing.json');
    const recorded = JSON.parse(readFileSync(listing, 'utf8'));
    recorded.tools[0].outputSchema.properties.gone = { type: 'string' };
    writeFileSync(listing, JSON.stringify(recorded));
    const { status, stdout } = await market(['--only', 'tool']);
    expect(status).toBe(0);
    expect(stdout).toContain('✗ breaks readers  get_price · outputSchema.properties.gone  removed');
    expect(stdout).toContain('Refresh Skills');
    expect((await market(['--only', 'tool', '--level', 'should'])).status).toBe(1);
  });

  it('checks again after a change, and leaves no server behind', async () => {
    const child = execa(
      process.execPath,
      [bins.market, 'check', '--watch', '--only', 'health', '--verbose'],
      {
        cwd: project,
        reject: false,
        env: { NO_COLOR: '1' },
      },
    );
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    const rounds = async (count: number) => {
      while (text.split('Waiting for changes').length <= count) await setTimeout(50);
    };
    await rounds(1);
    // Created by one rename, so that a poll never finds a part of it.
    mkdirSync(join(root, 'notes'));
    writeFileSync(join(root, 'notes/note.txt'), 'changed');
    renameSync(join(root, 'notes'), join(project, 'src/notes'));
    await rounds(2);
    child.kill('SIGINT');
    await child;
    const urls = [...text.matchAll(/Contract check of (\S+)/g)].map(
      ([, url = '']) => new URL('/health', url),
    );
    expect(urls.length).toBe(2);
    for (const url of urls) await expect(fetch(url)).rejects.toThrow();
  });
});
