import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { scratch } from '../../test/e2e/support.ts';
import { type Examined, examine } from '../../test/foreign/examine.ts';
import { sdkServers } from '../../test/foreign/servers.ts';
import { writePage } from './page.ts';
import { repositoryServers } from './repository-servers.ts';
import { installedServers } from './servers.ts';

const servers = [...sdkServers, ...installedServers, ...(await repositoryServers())];
const root = scratch();
const all: Examined[] = [];

describe('market-mcp check of third-party servers', () => {
  it.concurrent.each(servers)('$name', async (server) => {
    all.push(await examine(server, mkdtempSync(join(root, 'place-'))));
  });

  afterAll(() => {
    const inOrder = all.toSorted((one, other) => servers.indexOf(one.server) - servers.indexOf(other.server));
    if (all.length === servers.length) writePage(inOrder);
  });
});
