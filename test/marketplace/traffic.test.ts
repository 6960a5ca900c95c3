import { expect, test } from 'vitest';
import { sentTo, Traffic, toHar } from '../../src/marketplace/core/traffic.ts';

const message = (body: string) => ({ headers: { 'content-type': 'application/json' }, body, cut: 0 });
const request = (body: string) => ({
  purpose: 'call' as const,
  method: 'POST',
  url: 'http://127.0.0.1:3000/mcp?x=1',
  [sentTo]: 'http://127.0.0.1:3000/mcp?x=1',
  rpc: null,
  request: message(body),
});

test('keeps 2,000 large exchanges within the limit, the newest first', () => {
  const limit = 1024 * 1024;
  const traffic = new Traffic(limit);
  for (let call = 0; call < 2_000; call++) {
    const id = traffic.start(request(`request ${call} ${'x'.repeat(2_000)}`));
    traffic.change(id, { response: { ...message('y'.repeat(8_000)), status: 200 }, ms: 1 });
    expect(traffic.totals.bytes).toBeLessThanOrEqual(limit);
  }
  const { kept, dropped, bytes } = traffic.totals;
  expect(kept + dropped).toBe(2_000);
  const oneMore = (bytes / kept) * (kept + 1);
  expect(oneMore).toBeGreaterThan(limit);
  expect(traffic.newest(1)[0]?.request.body).toContain('request 1999 ');
  expect(traffic.get(1)).toBeUndefined();
  expect(traffic.newest(3).map(({ id }) => id)).toEqual([2_000, 1_999, 1_998]);
  traffic.clear();
  expect(traffic.totals).toEqual({ kept: 0, dropped: 2_000, bytes: 0 });
});

test('keeps an exchange alone if it is larger than the limit, and drops responses of removed ones', () => {
  const traffic = new Traffic(1_000);
  const first = traffic.start(request('a'));
  const second = traffic.start(request('b'.repeat(10_000)));
  traffic.change(first, { ms: 1 });
  traffic.log(first, { stream: 'stdout', text: 'late' });
  expect(traffic.all().map(({ id }) => id)).toEqual([second]);
});

test('limits the log lines of an exchange', () => {
  const traffic = new Traffic();
  const id = traffic.start(request('a'));
  for (let line = 0; line < 1_000; line++) traffic.log(id, { stream: 'stderr', text: `${line}` });
  expect(traffic.get(id)?.logs).toHaveLength(200);
});

test('exports an HTTP archive of version 1.2', () => {
  const traffic = new Traffic();
  const id = traffic.start(request('{"a":1}'));
  traffic.change(id, { response: { ...message('{}'), status: 200 }, ms: 12 });
  expect(toHar(traffic.all(), '1.0.0')).toMatchObject({
    log: {
      version: '1.2',
      creator: { name: 'market-mcp', version: '1.0.0' },
      entries: [
        {
          time: 12,
          request: {
            method: 'POST',
            queryString: [{ name: 'x', value: '1' }],
            postData: { mimeType: 'application/json', text: '{"a":1}' },
          },
          response: { status: 200, content: { size: 2, text: '{}' } },
        },
      ],
    },
  });
});
