import type { Steps } from '../good-server.ts';
import { type BrokenServer, instead, methodOf, withAnswer, withHeaders, withRequest } from '../variant.ts';
import type { Request } from '../wire.ts';

const idOf = (request: Request) => request.headers['mcp-session-id']?.toString();
const stream = { status: 200, headers: { 'content-type': 'text/event-stream' }, stream: true } as const;

/** Admits some requests as if they named a known session. */
function letIn(admits: (request: Request) => boolean) {
  return withRequest((request: Request, steps: Steps) =>
    admits(request) ? withHeaders(request, { 'mcp-session-id': steps.open() }) : request,
  );
}

const isOrdinaryPost = (request: Request) => request.method === 'POST' && methodOf(request) !== 'initialize';
const isCall = (request: Request) => methodOf(request) === 'tools/call';
const isLong = (request: Request) => (idOf(request)?.length ?? 0) > 1000;
const isZero = (request: Request) => /^0+-/.test(idOf(request) ?? '');

export const brokenSessions: readonly BrokenServer[] = [
  {
    rule: 'session.open',
    breaks: withAnswer((answer, request) =>
      methodOf(request) === 'initialize' ? { ...answer, headers: {} } : answer,
    ),
  },
  {
    rule: 'session.header-case',
    breaks: withRequest((request) =>
      request.names?.some((name) => /^mcp-session-id$/i.test(name) && name !== 'mcp-session-id')
        ? withHeaders(request, { 'mcp-session-id': undefined })
        : request,
    ),
  },
  { rule: 'session.id-characters', breaks: renamed((id) => id.replace('-', ' ')) },
  { rule: 'session.unguessable', breaks: renamed((_, count) => `session-${99_998 + count}`) },
  {
    rule: 'session.unguessable',
    // It gets longer during the run, before what follows it.
    breaks: renamed((_, count) => `${99_998 + count}-of-coins.example.com`),
  },
  { rule: 'session.unguessable', breaks: renamed(() => String(process.hrtime.bigint())) },
  { rule: 'session.unguessable', breaks: renamed(timeUuid) },
  {
    rule: 'session.unguessable',
    breaks: renamed((_, count) => Buffer.from(JSON.stringify({ count })).toString('base64url')),
  },
  { rule: 'session.unique', breaks: { ...constantId(), ...withoutDelete() } },
  { rule: 'session.unique', along: ['modern.unknown-method'], breaks: oneSession() },
  { rule: 'session.lasting', breaks: forgetful() },
  { rule: 'session.lasting', breaks: endsAfter(40) },
  { rule: 'session.two-at-once', breaks: sharedByMessageId() },
  { rule: 'session.parallel', breaks: crowded() },
  {
    rule: 'session.missing-post',
    breaks: letIn((request) => isOrdinaryPost(request) && !isCall(request) && idOf(request) === undefined),
  },
  {
    rule: 'session.missing-call',
    breaks: letIn((request) => isCall(request) && idOf(request) === undefined),
  },
  { rule: 'session.unknown-post', breaks: letIn((request) => isOrdinaryPost(request) && isZero(request)) },
  {
    rule: 'session.missing-get',
    breaks: instead((request) =>
      request.method === 'GET' && request.path === '/mcp' && idOf(request) === undefined ? stream : undefined,
    ),
  },
  {
    rule: 'session.unknown-get',
    breaks: instead((request) => (request.method === 'GET' && isZero(request) ? stream : undefined)),
  },
  { rule: 'session.tampered', breaks: prefixed('POST') },
  { rule: 'session.tampered-get', breaks: prefixed('GET') },
  { rule: 'session.delete-unknown', breaks: prefixed('DELETE') },
  {
    rule: 'session.long',
    breaks: instead((request) =>
      request.method === 'POST' && isLong(request)
        ? { status: 500, body: 'Internal Server Error' }
        : undefined,
    ),
  },
  {
    rule: 'session.long-get',
    breaks: instead((request) => (request.method === 'GET' && isLong(request) ? stream : undefined)),
  },
  {
    rule: 'session.prototype',
    breaks: letIn((request) => request.method === 'POST' && idOf(request) === '__proto__'),
  },
  {
    rule: 'session.prototype-get',
    breaks: instead((request) =>
      request.method === 'GET' && idOf(request) === 'constructor' ? { status: 500 } : undefined,
    ),
  },
  {
    rule: 'session.get-known',
    breaks: withAnswer((answer, request) =>
      request.method === 'GET' && answer.stream ? { status: 404, body: 'Not found' } : answer,
    ),
  },
  {
    rule: 'session.foreign-initialize',
    breaks: withRequest((request) =>
      methodOf(request) === 'initialize' ? withHeaders(request, { 'mcp-session-id': undefined }) : request,
    ),
  },
  { rule: 'session.delete', breaks: { close: () => () => {} } },
  { rule: 'session.delete', breaks: outlivesDelete() },
  {
    rule: 'session.in-address',
    breaks: withRequest((request) => {
      const id = new URLSearchParams(request.search).get('sessionId');
      return id ? withHeaders(request, { 'mcp-session-id': id }) : request;
    }),
  },
  {
    rule: 'session.delete-unknown',
    breaks: withAnswer((answer, request) =>
      request.method === 'DELETE' && answer.status === 400 ? { status: 204 } : answer,
    ),
  },
  {
    rule: 'session.delete-unknown',
    breaks: instead((request) =>
      request.method === 'DELETE' && idOf(request) === '__proto__' ? { status: 500 } : undefined,
    ),
  },
];

/** Sessions with other ids. */
function renamed(nameOf: (id: string, count: number) => string) {
  const ids = new Map<string, string>();
  return {
    open: (good: Steps['open']) => () => {
      const id = good();
      const name = nameOf(id, ids.size);
      ids.set(name, id);
      return name;
    },
    isKnown: (good: Steps['isKnown']) => (id: string | undefined) => good(ids.get(id ?? '')),
    close: (good: Steps['close']) => (id: string) => good(ids.get(id) ?? ''),
  };
}

/** A UUID of version 1: intervals of 100 ns, a clock sequence and a node. */
function timeUuid(_: string, count: number): string {
  const time = (0x1d19dad6ba7b7n + BigInt(count) * 12_345n).toString(16).padStart(15, '0');
  return `${time.slice(7)}-${time.slice(3, 7)}-1${time.slice(0, 3)}-9f3b-02420ac88202`;
}

function constantId() {
  let id: string | undefined;
  return {
    open: (good: Steps['open']) => () => {
      id ??= good();
      return id;
    },
  };
}

/** One session for the whole process, like a transport that is created once. */
function oneSession() {
  let isOpen = false;
  return instead((request) => {
    if (methodOf(request) !== 'initialize') return undefined;
    if (isOpen) return { status: 500, body: { error: 'Already connected to a transport' } };
    isOpen = true;
    return undefined;
  });
}

function withoutDelete() {
  return instead((request) => (request.method === 'DELETE' ? { status: 405 } : undefined));
}

/** Knows a session for so many requests. */
function endsAfter(most: number) {
  const uses = new Map<string, number>();
  return {
    isKnown: (good: Steps['isKnown']) => (id: string | undefined) => {
      if (id === undefined || !good(id)) return false;
      uses.set(id, (uses.get(id) ?? 0) + 1);
      return (uses.get(id) ?? 0) <= most;
    },
  };
}

/** Forgets a session after four requests for prompts. */
function forgetful() {
  const counts = new Map<string | undefined, number>();
  return instead((request) => {
    if (methodOf(request) !== 'prompts/list') return undefined;
    const count = (counts.get(idOf(request)) ?? 0) + 1;
    counts.set(idOf(request), count);
    return count > 4 ? { status: 400, body: { error: 'Invalid session' } } : undefined;
  });
}

/** Sends the answer to the last caller with the same message id, like one transport for all sessions. */
function sharedByMessageId() {
  let overtaken: (() => void) | undefined;
  return {
    respond:
      (good: Steps['respond']): Steps['respond'] =>
      async (message) => {
        if (message.id !== 424_242) return good(message);
        if (overtaken) {
          overtaken();
          return good(message);
        }
        await new Promise<void>((resolve) => {
          overtaken = resolve;
        });
        return { error: { code: -32603, message: 'Already connected to a transport' } };
      },
  };
}

/** Stores nineteen sessions: another one replaces the least recently used. */
function crowded() {
  const byLastUse = new Set<string | undefined>();
  return {
    open: (good: Steps['open'], steps: Steps) => () => {
      const id = good();
      byLastUse.add(id);
      const [oldest = id] = byLastUse;
      if (byLastUse.size > 19 && byLastUse.delete(oldest)) steps.close(oldest);
      return id;
    },
    isKnown: (good: Steps['isKnown']) => (id: string | undefined) => {
      if (byLastUse.delete(id)) byLastUse.add(id);
      return good(id);
    },
  };
}

/** Compares only a prefix of the id, for one method. */
function prefixed(method: string) {
  const known = new Map<string, string>();
  const beginning = (id: string | undefined) => id?.slice(0, 8) ?? '';
  return {
    open: (good: Steps['open']) => () => {
      const id = good();
      known.set(beginning(id), id);
      return id;
    },
    ...withRequest((request: Request) => {
      const whole = known.get(beginning(idOf(request)));
      return request.method === method && whole ? withHeaders(request, { 'mcp-session-id': whole }) : request;
    }),
  };
}

/** Keeps the stream of a deleted session open. */
function outlivesDelete() {
  const deleted = new Set<string | undefined>();
  return instead((request, steps) => {
    if (request.method === 'DELETE' && steps.isKnown(idOf(request))) deleted.add(idOf(request));
    return request.method === 'GET' && deleted.has(idOf(request)) ? stream : undefined;
  });
}
