import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { installOnce } from '../../test/e2e/install-once.ts';
import { scratch } from '../../test/e2e/support.ts';
import { listTools, packageOf } from './list-tools.ts';
import { type Row, writePage } from './page.ts';
import { servers } from './servers.ts';
import { takeOver } from './take-over.ts';

const root = scratch();
const rows = new Map<string, Row>();
// The servers, at the versions that it pins, without their install scripts.
const manifest = readFileSync(join(import.meta.dirname, 'package.json'), 'utf8');
const modules = await installOnce('real-servers', manifest);

describe.concurrent('the tools of a third-party server', () => {
  it.each(servers)('$package', async (server) => {
    const place = join(root, server.package.replaceAll(/\W/g, '-'));
    mkdirSync(place);
    const { version } = packageOf(modules, server.package);
    const listed = await listTools(server, modules, place).catch((error: Error) => error);
    if (listed instanceof Error) {
      rows.set(server.package, { version, notListed: `lists none here: ${listed.message}` });
      return;
    }
    const result = await takeOver(listed, place).catch((error: Error) => {
      rows.set(server.package, { version, notListed: `was not imported: ${error.message}` });
      throw error;
    });
    rows.set(server.package, { version, result });
    expect(result).toMatchObject({ failed: [], silent: [], unitTests: true, orderKept: true });
  });
});

afterAll(() => {
  // A partial run does not change the page.
  if (rows.size < servers.length) return;
  const inOrder = servers.map((server) => [server.package, rows.get(server.package)] as const);
  writePage(inOrder);
  expect(inOrder.filter(([, row]) => row?.result !== undefined).length).toBeGreaterThanOrEqual(15);
});
