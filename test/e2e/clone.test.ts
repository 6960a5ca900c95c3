import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { repository, run, scratch } from './support.ts';

it('a clone that was never built is built by one run', async () => {
  const clone = scratch();
  const { stdout } = await run('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: repository });
  const files = stdout.split('\0').filter((file) => file !== '' && !/^(?:test|docs|bench)\//.test(file));
  expect(files).toContain('build.js');
  for (const file of files) {
    if (!existsSync(join(repository, file))) continue; // deleted, and not yet committed
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    cpSync(join(repository, file), join(clone, file));
  }
  // The packages of npm ci; those of this repository are links to the clone.
  const modules = join(clone, 'node_modules');
  mkdirSync(modules);
  const own = readdirSync(join(repository, 'packages'), { withFileTypes: true }).map(
    ({ name }) => `market-mcp-${name}`,
  );
  for (const name of readdirSync(join(repository, 'node_modules'))) {
    if (name.startsWith('.')) continue;
    const place = own.includes(name)
      ? join(clone, 'packages', name.slice('market-mcp-'.length))
      : join(repository, 'node_modules', name);
    symlinkSync(place, join(modules, name), 'junction');
  }

  const built = await run(process.execPath, ['build.js'], { cwd: clone });

  expect(built.status, built.stderr).toBe(0);
  const started = await run(process.execPath, ['bin/create-market-mcp.js', '--version'], { cwd: clone });
  expect(started.status, started.stderr).toBe(0);
});
