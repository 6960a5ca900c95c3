import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import type { RealServer } from './servers.ts';

/** Time limit for a server to start and list its tools, in milliseconds. */
const bound = 60_000;

interface Package {
  readonly version: string;
  readonly bin?: string | { readonly [name: string]: string };
}

export function packageOf(modules: string, name: string): Package {
  return JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
}

/**
 * The tools that a server lists over stdio. It gets no variable of this process except PATH, and a separate home; it is
 * ended by its id in any case.
 *
 * @throws Error with the end of its stderr if it does not start or does not answer in time
 */
export async function listTools(server: RealServer, modules: string, place: string): Promise<JsonObject[]> {
  const { bin = {} } = packageOf(modules, server.package);
  const program = typeof bin === 'string' ? bin : (bin[server.bin ?? ''] ?? Object.values(bin)[0] ?? '');
  const home = join(place, 'home');
  mkdirSync(home, { recursive: true });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(modules, server.package, program), ...(server.args?.(place) ?? [])],
    cwd: place,
    stderr: 'pipe',
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      XDG_CACHE_HOME: join(home, '.cache'),
      XDG_CONFIG_HOME: join(home, '.config'),
      npm_config_cache: join(home, '.npm'),
      DO_NOT_TRACK: '1',
      ...server.env,
    },
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-400);
  });
  const client = new Client({ name: 'real-tools', version: '1.0.0' });
  try {
    await client.connect(transport, { timeout: bound });
    const tools: JsonObject[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: bound });
      tools.push(...(page.tools as unknown as JsonObject[]));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return tools;
  } catch (error) {
    throw new Error(`${(error as Error).message}; ${said.trim().split('\n').at(-1) ?? ''}`, { cause: error });
  } finally {
    await client.close();
  }
}
