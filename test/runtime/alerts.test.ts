import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
const rules = readFileSync(path.join(import.meta.dirname, '../../packages/runtime/alerts.yml'), 'utf8');

test.skipIf(!hasPromtool)(
  'each rule of alerts.yml fires when it should, and none for a good server (skipped without promtool)',
  () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'alerts.test.yml'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    });
    expect(stdout + stderr).toContain('SUCCESS');
    expect(status).toBe(0);
  },
);

test('alerts.yml has at most eleven rules, and the test of promtool has each', () => {
  const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const tested = readFileSync(path.join(import.meta.dirname, 'alerts.test.yml'), 'utf8');
  expect(names.length).toBeGreaterThan(0);
  expect(names.length).toBeLessThanOrEqual(11);
  for (const name of names) expect(tested).toContain(`alertname="${name}"`);
});
