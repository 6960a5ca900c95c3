import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSteps, type RunningServer, serve } from '../broken/good-server.ts';
import { keys } from '../keys.ts';
import { bins, scratch } from './support.ts';
import { Terminal } from './terminal.ts';

const root = scratch();
const audience = 'https://tools.example.com/mcp';
const question = 'Call any of these tools, too?';
const executed = new Set<unknown>();
let server: RunningServer;

beforeAll(async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(root, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const trust = {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    issuer: 'https://ctxprotocol.com',
    audience,
  };
  server = await serve(
    createSteps(trust, {
      list: (good) => () => good().map(({ annotations: _, ...unmarked }) => unmarked),
      call: (good) => (params) => {
        if (params.name === 'get_price' || params.name === 'list_coins') executed.add(params.name);
        return good(params);
      },
    }),
  );
});
afterAll(() => server.stop());
beforeEach(() => executed.clear());

function check(): Terminal {
  const flags = ['--platform', 'context', '--signing-key', 'key.pem', '--audience', audience];
  return new Terminal(process.execPath, [bins.market, 'check', server.url, ...flags], { cwd: root });
}

describe('market-mcp check of a URL at a terminal', () => {
  it('lists the tools that it will not call, and calls those that the person selects', async () => {
    const terminal = check();
    await terminal.asked(question);
    expect(terminal.text).toContain('No tool will be called.');
    expect(terminal.text).toContain('get_price: it does not declare readOnlyHint');
    expect([...executed]).toEqual([]);
    terminal.press(' ', keys.enter);
    expect(await terminal.ended).toBe(0);
    expect([...executed]).toEqual(['get_price']);
  });

  it('ends without a call on Ctrl-C', async () => {
    const terminal = check();
    await terminal.asked(question);
    terminal.press(keys.ctrlC);
    expect(await terminal.ended).toBe(130);
    expect([...executed]).toEqual([]);
  });
});
