import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { curlCommands } from '../../src/dev/curl-commands.ts';
import { startApi } from '../api-server.ts';
import { directory } from '../project/directory.ts';

it('quotes everything in a platform profile for a shell', async () => {
  const { origin, requests } = await startApi(() => ({ headers: { 'mcp-session-id': 's1' }, body: {} }));
  const cwd = directory();
  const scheme = `B\`touch ran\`$(touch ran)"'$HOME`;
  const commands = curlCommands(
    { url: `${origin}/mcp`, tool: 'echo', arguments: {}, token: 't1' },
    { header: 'x-`touch`', scheme },
  );
  await promisify(execFile)('sh', ['-c', commands], { cwd });
  expect(existsSync(join(cwd, 'ran'))).toBe(false);
  expect(requests.at(-1)?.headers).toMatchObject({ 'mcp-session-id': 's1', 'x-`touch`': `${scheme} t1` });
});
