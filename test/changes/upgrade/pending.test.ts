import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { readPending, restoringChange } from '../../../src/changes/upgrade/pending.ts';
import { planUpgrade } from '../../../src/changes/upgrade/plan.ts';
import { sealOf } from '../../../src/project/manifest/machine-seal.ts';
import { changeProject } from '../../../src/project/write/change.ts';
import { bins, run } from '../../e2e/support.ts';
import { directory, tree } from '../../project/directory.ts';
import { oldProject, put } from './old-project.ts';

const stateFile = '.local/upgrade/pending/upgrade.json';
const onMachine = (place: string) => vi.stubEnv('XDG_STATE_HOME', place);
afterEach(() => vi.unstubAllEnvs());

/** A project with an unfinished upgrade, begun on a machine of its own. */
async function unfinished() {
  const root = oldProject();
  const machine = directory();
  onMachine(machine);
  await changeProject(root, async () => planUpgrade(root));
  return { root, machine, state: readFileSync(join(root, stateFile), 'utf8') };
}

it('the record of an upgrade is used only where it was written', async () => {
  const { root, machine } = await unfinished();
  const before = tree(root);
  expect(readPending(root)).toMatchObject({ from: '0.1.0' });
  onMachine(directory());
  expect(() => readPending(root)).toThrow('was not written on this machine');
  expect(() => planUpgrade(root)).toThrow('was not written on this machine');
  expect(tree(root)).toEqual(before);
  onMachine(machine);
  expect(readPending(root)).toMatchObject({ from: '0.1.0' });
});

it.each<[string, (state: { files: Record<string, unknown>; [name: string]: unknown }) => void]>([
  ['another file', ({ files }) => Object.assign(files, { '../x': null })],
  ['another version', (state) => Object.assign(state, { from: '../../x' })],
  ['another conflict', (state) => Object.assign(state, { conflicts: ['../x'] })],
  ['no seal', (state) => Object.assign(state, { seal: undefined })],
  ['a seal that is no text', (state) => Object.assign(state, { seal: null })],
])('a record with %s is not used', async (_, change) => {
  const { root, state } = await unfinished();
  const changed = JSON.parse(state);
  change(changed);
  put(root, stateFile, JSON.stringify(changed));
  expect(() => readPending(root)).toThrow('was changed');
});

it('a record of 0.2.0 is not used', async () => {
  const { root, state } = await unfinished();
  rmSync(join(root, stateFile));
  put(root, '.local/upgrade/pending/state.json', state);
  expect(() => planUpgrade(root)).toThrow('pending/state.json describes an unfinished upgrade, but was not');
});

it.each([
  ['--continue', bins.market, ''],
  ['--abort', '/gone/bin/market-mcp.js', ' (the program is no longer there: restore it first)'],
])('%s of another version prints the command of the program that began', async (flag, program, then) => {
  const { root, state } = await unfinished();
  const { seal: _, ...record } = { ...JSON.parse(state), to: '9.9.9', program };
  put(root, stateFile, JSON.stringify({ ...record, seal: sealOf(root, JSON.stringify(record)) }));
  const before = tree(root);
  const ran = await run(process.execPath, [bins.market, 'upgrade', flag, '--yes', '--json'], { cwd: root });
  expect(ran.status).toBe(2);
  const message = 'version 9.9.9 of the program began this upgrade, and this is version';
  const hint = `Nothing was changed. Run: node ${program} upgrade ${flag}${then}`;
  expect(JSON.parse(ran.stderr).error).toMatchObject({
    code: 'OTHER_VERSION',
    message: expect.stringContaining(message),
    hint,
  });
  expect(tree(root)).toEqual(before);
});

it('the record names the program that began by its absolute path', async () => {
  const { root } = await unfinished();
  expect(readPending(root)?.program).toBe(bins.market);
  expect(() => planUpgrade(root)).toThrow(
    expect.objectContaining({ hint: expect.stringContaining(`node ${bins.market} upgrade --continue`) }),
  );
});

it('a copy that was exchanged is not restored', async () => {
  const { root } = await unfinished();
  put(root, '.local/upgrade/pending/before/README.md', 'exchanged');
  const pending = readPending(root);
  expect(() => pending && restoringChange(root, pending)).toThrow('is not the copy that the upgrade made');
});

it('a secret in the project, or a damaged one, seals nothing', () => {
  const root = oldProject();
  const damaged = directory();
  put(damaged, 'create-market-mcp/secret', '');
  onMachine(damaged);
  expect(() => planUpgrade(root)).toThrow('secret is damaged');
  const linked = join(directory(), 'state');
  symlinkSync(root, linked);
  onMachine(linked);
  expect(() => planUpgrade(root)).toThrow('a link into the project');
  onMachine(join(root, 'state'));
  expect(() => planUpgrade(root)).toThrow('is in the project');
  expect(existsSync(join(root, 'state'))).toBe(false);
});
