import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  refuseUnwritable,
  saveJson,
  writeWhereLinksLead,
} from '../../../packages/contract/src/command/save.ts';
import { directory } from '../directory.ts';

it('does not follow a link at the name of the temporary file', async () => {
  const root = directory();
  const secret = join(root, 'secret');
  writeFileSync(secret, 'mine');
  symlinkSync(secret, join(root, `report.json.${process.pid}.tmp`));
  await saveJson(join(root, 'report.json'), { a: 1 });
  expect(readFileSync(secret, 'utf8')).toBe('mine');
  expect(JSON.parse(readFileSync(join(root, 'report.json'), 'utf8'))).toEqual({ a: 1 });
  expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toHaveLength(1);
});

it('replaces a link at the path instead of writing through it', async () => {
  const root = directory();
  writeFileSync(join(root, 'secret'), 'mine');
  symlinkSync(join(root, 'secret'), join(root, 'report.json'));
  await saveJson(join(root, 'report.json'), { a: 1 });
  expect(readFileSync(join(root, 'secret'), 'utf8')).toBe('mine');
});

describe.skipIf(process.platform === 'win32')('a path that the user gave', () => {
  it('keeps a link, and writes to where it leads', async () => {
    const root = directory();
    writeFileSync(join(root, 'kept'), 'old');
    for (const name of ['kept', 'missing']) {
      const link = join(root, `to-${name}`);
      symlinkSync(name, link);
      await refuseUnwritable(link);
      await writeWhereLinksLead(link, 'new');
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      expect(readFileSync(join(root, name), 'utf8')).toBe('new');
    }
  });

  it('keeps the mode of a file', async () => {
    const file = join(directory(), 'report');
    writeFileSync(file, 'old');
    for (const mode of [0o600, 0o666]) {
      chmodSync(file, mode);
      await writeWhereLinksLead(file, 'new');
      expect(statSync(file).mode & 0o777).toBe(mode);
      expect(readFileSync(file, 'utf8')).toBe('new');
    }
  });

  it('keeps what a file contains if the text is added', async () => {
    const file = join(directory(), 'summary');
    for (const text of ['a', 'b']) await writeWhereLinksLead(file, text, true);
    expect(readFileSync(file, 'utf8')).toBe('ab');
  });

  it('writes into a FIFO, also through a link, and does not wait if nobody reads it', async () => {
    const root = directory();
    const fifo = join(root, 'fifo');
    execFileSync('mkfifo', [fifo]);
    symlinkSync('fifo', join(root, 'link'));
    await expect(writeWhereLinksLead(fifo, 'lost')).rejects.toMatchObject({ code: 'NOT_WRITABLE' });
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    for (const path of [fifo, join(root, 'link')]) {
      await refuseUnwritable(path);
      await writeWhereLinksLead(path, 'new');
      const read = Buffer.alloc(10);
      expect(read.toString('utf8', 0, readSync(reader, read))).toBe('new');
    }
    expect(lstatSync(fifo).isFIFO()).toBe(true);
    expect(lstatSync(join(root, 'link')).isSymbolicLink()).toBe(true);
  });

  it.runIf(process.getuid?.() === 0)('keeps a device', async (context) => {
    const device = join(directory(), 'device');
    try {
      execFileSync('mknod', [device, 'c', '1', '3'], { stdio: 'ignore' });
      writeFileSync(device, 'x');
    } catch {
      return context.skip(); // a container or a file system without devices
    }
    await refuseUnwritable(device);
    await writeWhereLinksLead(device, 'new');
    expect(lstatSync(device).isCharacterDevice()).toBe(true);
  });
});
