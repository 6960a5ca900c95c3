import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLauncher } from '../../src/check/launch.ts';
import { freePort } from '../../src/system/ports.ts';
import { directory as newDirectory } from '../project/directory.ts';

const server = `
import { createServer } from 'node:http';
createServer((_, response) => response.end(JSON.stringify(process.env))).listen(process.env.PORT, '127.0.0.1');`;

const directory = newDirectory();

async function program(name: string, text: string): Promise<string> {
  const path = join(directory, `${name}.mjs`);
  await writeFile(path, text);
  return path;
}

describe('createLauncher', () => {
  it('starts a server on a free port, with the given environment, and stops it', async () => {
    const launch = createLauncher(await program('server', server), { AUTH: undefined, HOST: 'base' });
    const instance = await launch({ HOST: 'own' });
    const environment = await (await fetch(new URL('/health', instance.url))).json();
    expect(instance.healthy).toBe(true);
    expect(environment).toMatchObject({ AUTH: '', HOST: 'own', PORT: new URL(instance.url).port });
    await instance.stop();
    expect(await instance.exit).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('keeps the last output of a server that does not start', async () => {
    const launch = createLauncher(await program('failing', 'console.error("no key"); process.exit(7);'), {});
    const instance = await launch({});
    expect(instance.healthy).toBe(false);
    expect(await instance.exit).toEqual({ code: 7, signal: null });
    expect(instance.output()).toContain('no key');
  });

  it('takes another port if the first one is taken before the server listens', async () => {
    const marker = join(directory, 'attempted');
    const late = await program(
      'late',
      `import { existsSync, writeFileSync } from 'node:fs';
if (!existsSync(${JSON.stringify(marker)})) {
  writeFileSync(${JSON.stringify(marker)}, process.env.PORT);
  console.error(\`Port \${process.env.PORT} is already in use.\`);
  process.exit(1);
}${server}`,
    );
    const instance = await createLauncher(late, {})({});
    expect(instance.healthy).toBe(true);
    expect(new URL(instance.url).port).not.toBe(await readFile(marker, 'utf8'));
    await instance.stop();
  });

  it('ends a program that never answers, and kills one that ignores SIGTERM', async () => {
    const mute = createLauncher(await program('mute', 'setInterval(() => {}, 1000);'), {}, { startMs: 200 });
    const instance = await mute({});
    expect(instance.healthy).toBe(false);
    expect(await instance.exit).toEqual({ code: null, signal: 'SIGTERM' });
    const deaf = createLauncher(await program('deaf', `process.on('SIGTERM', () => {});${server}`), {});
    const deafInstance = await deaf({});
    await deafInstance.stop();
    expect(await deafInstance.exit).toEqual({ code: null, signal: 'SIGKILL' });
  });
});

it('no port is given twice, so that the server of another check does not answer in place of this one', async () => {
  const ports: number[] = [];
  for (let i = 0; i < 1000; i += 1) ports.push(await freePort());
  expect(new Set(ports).size).toBe(1000);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});
