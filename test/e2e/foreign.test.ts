import { it } from 'vitest';
import { examine } from '../foreign/examine.ts';
import { sdkServers } from '../foreign/servers.ts';
import { scratch } from './support.ts';

const root = scratch();

it.each(sdkServers)(
  'market-mcp check of third-party servers: $name, $answers, sessions: $hasSessions',
  async (server) => {
    await examine(server, root);
  },
);
