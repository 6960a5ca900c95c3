import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSessions } from '../../packages/runtime/src/server/session.ts';
import fc from '../fast-check.ts';
import { start } from './support.ts';
import { tools } from './tools.ts';

const secret = 'a secret of thirty-two characters';

describe('signed sessions', () => {
  test('are valid with the same secret, and with no other', () => {
    const id = createSessions(secret, 60).open();
    expect(createSessions(secret, 60).isKnown(id)).toBe(true);
    expect(createSessions(`${secret}!`, 60).isKnown(id)).toBe(false);
    expect(createSessions(null, 60).isKnown(id)).toBe(false);
  });

  test('of a former secret stay valid, and none is signed with it', () => {
    const old = createSessions(secret, 60);
    const id = old.open();
    const changed = createSessions(`${secret}!`, 60, '', 10, secret);
    expect(changed.isKnown(id)).toBe(true);
    expect(old.isKnown(changed.open())).toBe(false);
    expect(changed.isKnown(createSessions(`${secret}?`, 60).open())).toBe(false);
    changed.close(id);
    expect(changed.isKnown(id)).toBe(false);
  });

  test('are visible ASCII and unique', () => {
    const sessions = createSessions(null, 60);
    const ids = Array.from({ length: 1000 }, () => sessions.open());
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{80,100}$/);
  });

  test('expire', () => {
    vi.useFakeTimers({ now: 1_000_000 });
    try {
      const sessions = createSessions(secret, 60);
      const id = sessions.open();
      vi.advanceTimersByTime(59_000);
      expect(sessions.isKnown(id)).toBe(true);
      vi.advanceTimersByTime(1_000);
      expect(sessions.isKnown(id)).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  test('are invalid after any change', () => {
    const sessions = createSessions(secret, 60);
    const id = sessions.open();
    fc.assert(
      fc.property(fc.nat(id.length - 1), fc.string({ minLength: 0, maxLength: 2 }), (at, text) => {
        const changed = id.slice(0, at) + text + id.slice(at + 1);
        return sessions.isKnown(changed) === (changed === id);
      }),
    );
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !sessions.isKnown(text)));
  });

  test('are valid for one audience only', () => {
    const id = createSessions(secret, 60, 'https://a.example/mcp').open();
    expect(createSessions(secret, 60, 'https://a.example/mcp').isKnown(id)).toBe(true);
    expect(createSessions(secret, 60, 'https://b.example/mcp').isKnown(id)).toBe(false);
    expect(createSessions(secret, 60).isKnown(id)).toBe(false);
  });

  test('stay closed, however many are closed later', () => {
    const sessions = createSessions(secret, 60);
    const closed = Array.from({ length: 30_000 }, () => {
      const id = sessions.open();
      expect(sessions.isKnown(id)).toBe(true);
      sessions.close(id);
      return id;
    });
    expect(closed.some((id) => sessions.isKnown(id))).toBe(false);
    const open = Array.from({ length: 1_000 }, () => sessions.open());
    expect(open.every((id) => sessions.isKnown(id))).toBe(true);
  });
});

describe('over the number of closed sessions that a process can record', () => {
  test('all earlier sessions are closed, and one opened in the same second is valid', () => {
    vi.useFakeTimers({ now: 1_000_000_000 });
    onTestFinished(() => void vi.useRealTimers());
    const sessions = createSessions(secret, 60, '', 2);
    const ids = [sessions.open(), sessions.open(), sessions.open(), sessions.open()];
    const known = () => ids.map((id) => sessions.isKnown(id));
    for (const id of ids.slice(0, 2)) sessions.close(id);
    expect(known()).toEqual([false, false, true, true]);
    sessions.close(ids[2] ?? '');
    expect(known()).toEqual([false, false, false, false]);
    ids.push(sessions.open());
    expect(known()).toEqual([false, false, false, false, true]);
    sessions.close(ids[4] ?? '');
    expect(known()).toEqual([false, false, false, false, false]);
  });
});

describe('sessions over HTTP', () => {
  const badIds = ['', 'x', '__proto__', 'constructor', '../..', 'a'.repeat(4096)];

  test('initialize without a header opens one, which works at once beside others', async () => {
    const { client } = await start();
    const sessions = await Promise.all(Array.from({ length: 20 }, () => client.session()));
    expect(new Set(sessions.map((session) => session['mcp-session-id'])).size).toBe(20);
    const answers = await Promise.all(
      sessions.map((session) => client.request('tools/list', undefined, session)),
    );
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body.result.tools).toHaveLength(tools.length);
    }
  });

  test('an unknown or missing one is refused on POST, GET and DELETE', async () => {
    const { client } = await start();
    const id = (await client.session())['mcp-session-id'];
    const tampered = id.replace(/^./, (digit) => (digit === 'a' ? 'b' : 'a'));
    const headers = [{}, ...[...badIds, tampered].map((bad) => ({ 'mcp-session-id': bad }))];
    for (const header of headers) {
      for (const answer of [
        await client.request('tools/list', undefined, header),
        await client.request('ping', undefined, header),
        await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' }, header),
        await client.send(undefined, header, 'GET'),
        await client.send(undefined, header, 'DELETE'),
      ]) {
        expect(answer).toMatchObject({ status: 400, body: { error: 'Invalid session' } });
      }
    }
  });

  test('initialize with an unknown session is refused, with a known session it stays in it', async () => {
    const { client } = await start();
    const params = {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    };
    for (const id of badIds) {
      const answer = await client.request('initialize', params, { 'mcp-session-id': id });
      expect(answer).toMatchObject({ status: 400, body: { error: 'Invalid session' } });
    }
    const session = await client.session();
    const again = await client.request('initialize', params, session);
    expect(again.status).toBe(200);
    expect(again.headers.get('mcp-session-id')).toBe(session['mcp-session-id']);
  });

  test('DELETE ends only its own session', async () => {
    const { client } = await start();
    const [one, two] = [await client.session(), await client.session()];
    expect((await client.send(undefined, one, 'DELETE')).status).toBe(204);
    expect((await client.request('ping', undefined, one)).status).toBe(400);
    expect((await client.send(undefined, one, 'DELETE')).status).toBe(400);
    expect((await client.request('ping', undefined, two)).status).toBe(200);
  });

  test('an initialize that fails opens none', async () => {
    const { client } = await start();
    const { status, headers, body } = await client.request('initialize', { protocolVersion: 7 });
    expect({ status, code: body.error.code, id: body.id }).toEqual({ status: 200, code: -32602, id: 1 });
    expect(headers.has('mcp-session-id')).toBe(false);
  });
});
