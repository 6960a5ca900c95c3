import { describe, expect, it, vi } from 'vitest';
import { maxDetail } from '../../packages/runtime/src/server/log.ts';
import { defineEnv, secret } from '../../packages/runtime/src/source/environment.ts';
import { callTool } from '../../packages/runtime/src/testing.ts';
import { start, token } from './support.ts';
import { textTool } from './tools.ts';

const key = 'k4-9f31c7e2b0aa';
const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

const paid = async () => ({ authorization: `Bearer ${await token()}` });

/** The answer and the log lines of one call whose tool fails with a cause. */
async function callFailing(cause: unknown) {
  const tool = textTool('failing', (_, { fail }) =>
    fail('QUOTE_DOWN', 'No quotes now.', { extra: 1 }, cause),
  );
  const { client, events } = await start({ tools: [tool] });
  const headers = { ...(await client.session()), ...(await paid()), traceparent };
  const answer = await client.request('tools/call', { name: 'failing' }, headers);
  return { answer, lines: events(), request: answer.headers.get('x-request-id') };
}

describe('the cause of a failure', () => {
  it('is one log line with tool, code and request id, and the caller gets none of it', async () => {
    const cause = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 10.0.0.1:443') });
    const { answer, lines, request } = await callFailing(cause);
    expect(answer.text).toContain('QUOTE_DOWN');
    expect(answer.text).not.toMatch(/fetch failed|ECONNREFUSED/);
    expect(lines).toMatchObject([
      { event: 'failure', tool: 'failing', code: 'QUOTE_DOWN', request, traceparent },
      { event: 'call', tool: 'failing', code: 'QUOTE_DOWN', outcome: 'fail', request },
    ]);
    const detail = String(lines[0]?.detail);
    expect(detail).toMatch(/^TypeError: fetch failed\n {4}at /);
    expect(detail).toContain('[cause]: Error: connect ECONNREFUSED 10.0.0.1:443');
  });

  it('is not logged if the tool gives none', async () => {
    const { lines } = await callFailing(undefined);
    expect(lines).toMatchObject([{ event: 'call', code: 'QUOTE_DOWN' }]);
  });

  it('has at most as many characters as the detail of an incident', async () => {
    const { lines } = await callFailing(new Error('x'.repeat(100_000)));
    expect(String(lines[0]?.detail)).toHaveLength(maxDetail);
  });

  it('contains no declared key, in whatever form, also where its text is cut', async () => {
    defineEnv({ QUOTES_KEY: secret('Key of the quotes.') }, { QUOTES_KEY: key });
    const base64 = Buffer.from(`user:${key}`).toString('base64');
    const { lines } = await callFailing(
      new Error(`GET /?key=${key} Basic ${base64} ${'x'.repeat(3_900)}${key}`),
    );
    expect(lines[0]?.detail).toContain('GET /?key=[secret] Basic ');
    const logged = JSON.stringify(lines);
    for (const part of [key.slice(0, 8), base64.slice(-12)]) expect(logged).not.toContain(part);
  });

  it('has no further members of an error, which can be the headers of its request', async () => {
    const cause = Object.assign(new Error('refused'), {
      config: { headers: { authorization: 'Bearer abc' } },
    });
    const { lines } = await callFailing(cause);
    expect(lines[0]?.detail).toContain('refused');
    expect(lines[0]?.detail).not.toContain('Bearer');
  });

  it('may be anything: a text, an object, an error that causes itself, or one that cannot be read', async () => {
    const cyclic = new Error('round');
    cyclic.cause = cyclic;
    const unreadable = Object.defineProperty(new Error('x'), 'stack', {
      get() {
        throw new Error('no');
      },
    });
    const details = [];
    for (const cause of ['gone', { code: 3 }, cyclic, unreadable]) {
      const { answer, lines } = await callFailing(cause);
      expect(answer.text).toContain('QUOTE_DOWN');
      details.push(lines[0]?.detail);
    }
    expect(details).toEqual([
      'gone',
      '{ code: 3 }',
      expect.stringContaining('Error: round'),
      'an error whose text cannot be read',
    ]);
  });

  it('is on standard error in a unit test', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    const tool = textTool('failing', (_, { fail }) =>
      fail('QUOTE_DOWN', 'No quotes.', {}, new Error('gone')),
    );
    await callTool(tool);
    const lines = logged.mock.calls.map(([line]) => JSON.parse(line));
    logged.mockRestore();
    expect(lines).toMatchObject([{ event: 'failure', tool: 'failing', code: 'QUOTE_DOWN' }]);
  });
});

it('the incident of an error that run throws has the causes of the error, without keys', async () => {
  defineEnv({ QUOTES_KEY: secret('Key of the quotes.') }, { QUOTES_KEY: key });
  const tool = textTool('throwing', () => {
    throw new Error(`bad key ${key}`, { cause: new Error('unreachable') });
  });
  const { client, events } = await start({ tools: [tool] });
  await client.request(
    'tools/call',
    { name: 'throwing' },
    { ...(await client.session()), ...(await paid()) },
  );
  const [incident] = events();
  expect(incident).toMatchObject({ event: 'incident', code: 'INTERNAL_ERROR' });
  expect(incident?.detail).toContain('Error: bad key [secret]\n');
  expect(incident?.detail).toContain('[cause]: Error: unreachable');
});

it('the incident of an error that a route throws has the causes of the error, without keys', async () => {
  defineEnv({ QUOTES_KEY: secret('Key of the quotes.') }, { QUOTES_KEY: key });
  const route = () => {
    throw new Error(`bad key ${key}`, { cause: new Error('unreachable') });
  };
  const { url, events } = await start({ routes: { '/quotes': route } });
  expect((await fetch(new URL('/quotes', url))).status).toBe(500);
  const [incident] = events();
  expect(incident).toMatchObject({ event: 'incident' });
  expect(incident?.detail).toContain('Error: bad key [secret]\n');
  expect(incident?.detail).toContain('[cause]: Error: unreachable');
});
