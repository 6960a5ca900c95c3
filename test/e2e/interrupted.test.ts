import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { keys } from '../keys.ts';
import { listen } from '../listen.ts';
import { bins, create, scratch, succeeded } from './support.ts';
import { Terminal } from './terminal.ts';

const root = scratch();

/** A registry that accepts every request and answers none; `asked` resolves on the first one. */
async function silentRegistry() {
  const server = createServer();
  const asked = once(server, 'request');
  const port = await listen(server);
  return { asked, env: { npm_config_registry: `http://127.0.0.1:${port}`, npm_config_user_agent: 'npm' } };
}

it('Ctrl-C during the installation prints what exists, and the same command continues', async () => {
  const cwd = join(root, 'terminal');
  mkdirSync(cwd);
  const { asked, env } = await silentRegistry();
  const args = [bins.create, 'gas', '--tool', 'get_gas', '--yes', '--no-git'];
  const terminal = new Terminal(process.execPath, args, { cwd, env });
  await asked;
  terminal.press(keys.ctrlC);
  expect(await terminal.ended, terminal.text).toBe(130);
  expect(terminal.text).toContain(
    'interrupted during the installation of packages: all files of the project are written to',
  );
  expect(terminal.text).toMatch(
    /run the same command again, or: cd gas && npm install && npm run self-check/,
  );
  expect(existsSync(join(cwd, 'gas/market-mcp.json'))).toBe(true);

  const again = await succeeded(create([...args.slice(1), '--no-install'], { cwd }));
  expect(again.stdout).toContain('already contains this project: continuing with it');

  const asking = new Terminal(process.execPath, [bins.create, 'gas', '--no-install', '--no-git'], { cwd });
  await asking.asked('gas already contains a project with get_gas. Finish it (install, git, self-check)?');
  asking.press(keys.enter);
  expect(await asking.ended, asking.text).toBe(0);
  expect(asking.text).toContain('edit src/tools/get-gas.ts');

  const tool = join(cwd, 'gas/src/tools/get-gas.ts');
  writeFileSync(tool, readFileSync(tool, 'utf8').replace(/^const samples?\b/m, 'const answers'));
  const written = new Terminal(process.execPath, [bins.create, 'gas', '--no-install', '--no-git'], { cwd });
  await written.asked('gas already contains a project with get_gas. Finish it (install, git, self-check)?');
  written.press(keys.enter);
  expect(await written.ended, written.text).toBe(0);
  expect(written.text).not.toContain('edit src/tools/get-gas.ts');
});

it('prints one line of JSON with --json', async () => {
  const { asked, env } = await silentRegistry();
  const args = [bins.create, 'told', '--tool', 'get_gas', '--yes', '--no-git', '--json'];
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env } });
  onTestFinished(() => {
    if (child.exitCode === null) child.kill('SIGKILL');
  });
  const stdout = text(child.stdout);
  const ended = once(child, 'exit');
  await asked;
  child.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
  expect(JSON.parse(await stdout)).toEqual({
    ok: false,
    error: {
      code: 'INTERRUPTED',
      message: `interrupted during the installation of packages: all files of the project are written to ${join(root, 'told')}`,
      hint: 'To continue, run the same command again, or: cd told && npm install && npm run self-check',
    },
  });
});
