import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { scratch } from '../e2e/support.ts';
import { listTools, packageOf } from './list-tools.ts';
import { type Row, writePage } from './page.ts';
import { servers } from './servers.ts';
import { takeOver } from './take-over.ts';

const root = scratch();
const rows = new Map<string, Row>();

describe.concurrent('the tools of a third-party server', () => {
  it.each(servers)('$package', async (server) => {
    const place = join(root, server.package.replaceAll(/\W/g, '-'));
    mkdirSync(place);
    const modules = inject('realServers');
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
