import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { curlCommands } from '../../src/dev/curl.ts';
import { listen } from '../listen.ts';
import { directory } from '../project/directory.ts';

it('quotes everything in a platform profile for a shell', async () => {
  const received: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    received.push(request.headers);
    response.setHeader('mcp-session-id', 's1').end('{}');
  });
  const port = await listen(server);
  const cwd = directory();
  const scheme = `B\`touch ran\`$(touch ran)"'$HOME`;
  const commands = curlCommands(
    { url: `http://127.0.0.1:${port}/mcp`, tool: 'echo', arguments: {}, token: 't1' },
    { header: 'x-`touch`', scheme },
  );
  await promisify(execFile)('sh', ['-c', commands], { cwd });
  expect(existsSync(join(cwd, 'ran'))).toBe(false);
  expect(received.at(-1)).toMatchObject({ 'mcp-session-id': 's1', 'x-`touch`': `${scheme} t1` });
});
