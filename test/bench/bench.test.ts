import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { repository, run, scratch, succeeded } from '../e2e/support.ts';

const parts = process.env.NIGHTLY
  ? ['cold-start', 'since', 'growth', 'scale-out', 'replica', 'exact']
  : ['growth'];
const out = scratch();
let page: string;
let results: { part: string; tables: { head: string[]; rows: string[][] }[]; reaches: unknown[] }[];

beforeAll(async () => {
  await succeeded(
    run(process.execPath, [
      join(repository, 'bench/run.js'),
      '--quick',
      '--only',
      parts.join(','),
      '--out',
      out,
    ]),
  );
  page = readFileSync(join(out, 'RESULTS.md'), 'utf8');
  results = JSON.parse(readFileSync(join(out, 'results.json'), 'utf8'));
});

describe('npm run bench -- --quick', () => {
  it('measures the requested parts', () => {
    expect(results.map(({ part }) => part)).toEqual(parts);
    for (const { reaches } of results) expect(reaches.length).toBeGreaterThan(0);
  });

  it('fills every table', () => {
    const tables = results.flatMap(({ tables }) => tables);
    expect(tables.length).toBeGreaterThanOrEqual(parts.length);
    for (const { head, rows } of tables) {
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) expect(row).toHaveLength(head.length);
    }
  });

  it('writes a page with well-formed tables', () => {
    for (const block of page.split('\n\n').filter((block) => block.startsWith('|'))) {
      const widths = block.split('\n').map((line) => line.split(' | ').length);
      expect(new Set(widths).size, block).toBe(1);
    }
  });

  it('names machine and runtime, but not the host name or a path', () => {
    expect(page).toMatch(/Node \d+\.\d+\.\d+/);
    expect(page).not.toContain(repository);
    expect(page).not.toContain(out);
  });

  it('draws the growth plot', () => {
    expect(readdirSync(out).toSorted()).toEqual(['RESULTS.md', 'growth.svg', 'results.json']);
    expect(readFileSync(join(out, 'growth.svg'), 'utf8')).toMatch(
      /^<svg [^>]+>[\s\S]*<polyline [\s\S]*<\/svg>\n$/,
    );
  });
});
