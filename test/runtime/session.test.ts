import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSessions } from '../../packages/runtime/src/server/session.ts';
import fc from '../fast-check.ts';
import { start } from './support.ts';

const secret = 'a secret of thirty-two characters';

describe('signed sessions', () => {
  test('are valid with the same secret, and with no other', () => {
    const id = createSessions(secret, 60).open();
    expect(createSessions(secret, 60).isOpen(id)).toBe(true);
    expect(createSessions(`${secret}!`, 60).isOpen(id)).toBe(false);
    expect(createSessions(null, 60).isOpen(id)).toBe(false);
  });

  test('of a former secret stay valid, and none is signed with it', () => {
    const old = createSessions(secret, 60);
    const id = old.open();
    const changed = createSessions(`${secret}!`, 60, { maxClosed: 10, previousSecret: secret });
    expect(changed.isOpen(id)).toBe(true);
    expect(old.isOpen(changed.open())).toBe(false);
    expect(changed.isOpen(createSessions(`${secret}?`, 60).open())).toBe(false);
    changed.close(id);
    expect(changed.isOpen(id)).toBe(false);
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
      expect(sessions.isOpen(id)).toBe(true);
      vi.advanceTimersByTime(1_000);
      expect(sessions.isOpen(id)).toBe(false);
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
        return sessions.isOpen(changed) === (changed === id);
      }),
    );
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !sessions.isOpen(text)));
  });

  test('are valid for one audience only', () => {
    const id = createSessions(secret, 60, { audience: 'https://a.example/mcp' }).open();
    expect(createSessions(secret, 60, { audience: 'https://a.example/mcp' }).isOpen(id)).toBe(true);
    expect(createSessions(secret, 60, { audience: 'https://b.example/mcp' }).isOpen(id)).toBe(false);
    expect(createSessions(secret, 60).isOpen(id)).toBe(false);
  });

  test('stay closed, however many are closed later', () => {
    const sessions = createSessions(secret, 60);
    const closed = Array.from({ length: 30_000 }, () => {
      const id = sessions.open();
      expect(sessions.isOpen(id)).toBe(true);
      sessions.close(id);
      return id;
    });
    expect(closed.some((id) => sessions.isOpen(id))).toBe(false);
    const open = Array.from({ length: 1_000 }, () => sessions.open());
    expect(open.every((id) => sessions.isOpen(id))).toBe(true);
  });
});

test('over the number of closed sessions that a process can record, all earlier sessions are closed, and one opened in the same second is valid', () => {
  vi.useFakeTimers({ now: 1_000_000_000 });
  onTestFinished(() => void vi.useRealTimers());
  const sessions = createSessions(secret, 60, { maxClosed: 2 });
  const ids = [sessions.open(), sessions.open(), sessions.open(), sessions.open()];
  const known = () => ids.map((id) => sessions.isOpen(id));
  for (const id of ids.slice(0, 2)) sessions.close(id);
  expect(known()).toEqual([false, false, true, true]);
  sessions.close(ids[2] ?? '');
  expect(known()).toEqual([false, false, false, false]);
  ids.push(sessions.open());
  expect(known()).toEqual([false, false, false, false, true]);
  sessions.close(ids[4] ?? '');
  expect(known()).toEqual([false, false, false, false, false]);
});

test('an initialize that fails opens no session', async () => {
  const { client } = await start();
  const { status, headers, body } = await client.request('initialize', { protocolVersion: 7 });
  expect({ status, code: body.error.code, id: body.id }).toEqual({ status: 200, code: -32602, id: 1 });
  expect(headers.has('mcp-session-id')).toBe(false);
});
