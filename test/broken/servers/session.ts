import type { Steps } from '../good-server.ts';
import {
  type Broken,
  Clock,
  instead,
  methodOf,
  type Variant,
  where,
  withAnswer,
  withHeaders,
  withRequest,
} from '../variant.ts';
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

export const brokenSessions: Broken<Variant> = {
  'session.open': withAnswer((answer, request) =>
    methodOf(request) === 'initialize' ? { ...answer, headers: {} } : answer,
  ),
  'session.header-case': withRequest((request) =>
    request.names?.some((name) => /^mcp-session-id$/i.test(name) && name !== 'mcp-session-id')
      ? withHeaders(request, { 'mcp-session-id': undefined })
      : request,
  ),
  'session.id-characters': renamed((id) => id.replace('-', ' ')),
  'session.unguessable': [
    renamed((_, count) => `session-${99_998 + count}`),
    // It gets longer during the run, before what follows it.
    renamed((_, count) => `${99_998 + count}-of-coins.example.com`),
    renamed(() => String(process.hrtime.bigint())),
    renamed(timeUuid),
    renamed((_, count) => Buffer.from(JSON.stringify({ count })).toString('base64url')),
  ],
  'session.unique': { ...constantId(), ...where(({ method }) => method === 'DELETE', { status: 405 }) },
  'session.unique modern.unknown-method': oneSession(),
  'session.lasting': [forgetful(), endsAfter(40), endsAfterMs(4_000)],
  'session.two-at-once': sharedByMessageId(),
  'session.parallel': crowded(),
  'session.missing-post': letIn(
    (request) => isOrdinaryPost(request) && !isCall(request) && idOf(request) === undefined,
  ),
  'session.missing-call': letIn((request) => isCall(request) && idOf(request) === undefined),
  'session.unknown-post': letIn((request) => isOrdinaryPost(request) && isZero(request)),
  'session.missing-get': where(
    (request) => request.method === 'GET' && request.path === '/mcp' && idOf(request) === undefined,
    stream,
  ),
  'session.unknown-get': where((request) => request.method === 'GET' && isZero(request), stream),
  'session.tampered': prefixed('POST'),
  'session.tampered-get': prefixed('GET'),
  'session.delete-unknown': [
    prefixed('DELETE'),
    withAnswer((answer, request) =>
      request.method === 'DELETE' && answer.status === 400 ? { status: 204 } : answer,
    ),
    where((request) => request.method === 'DELETE' && idOf(request) === '__proto__', { status: 500 }),
  ],
  'session.long': where((request) => request.method === 'POST' && isLong(request), {
    status: 500,
    body: 'Internal Server Error',
  }),
  'session.long-get': where((request) => request.method === 'GET' && isLong(request), stream),
  'session.prototype': letIn((request) => request.method === 'POST' && idOf(request) === '__proto__'),
  'session.prototype-get': where((request) => request.method === 'GET' && idOf(request) === 'constructor', {
    status: 500,
  }),
  'session.get-known': withAnswer((answer, request) =>
    request.method === 'GET' && answer.stream ? { status: 404, body: 'Not found' } : answer,
  ),
  'session.foreign-initialize': withRequest((request) =>
    methodOf(request) === 'initialize' ? withHeaders(request, { 'mcp-session-id': undefined }) : request,
  ),
  'session.delete': [{ close: () => () => {} }, outlivesDelete()],
  'session.in-address': withRequest((request) => {
    const id = new URLSearchParams(request.search).get('sessionId');
    return id ? withHeaders(request, { 'mcp-session-id': id }) : request;
  }),
};

/** Sessions with other ids. */
function renamed(nameOf: (id: string, count: number) => string): Variant {
  const ids = new Map<string, string>();
  return {
    open: (good) => () => {
      const id = good();
      const name = nameOf(id, ids.size);
      ids.set(name, id);
      return name;
    },
    isKnown: (good) => (id) => good(ids.get(id ?? '')),
    close: (good) => (id) => good(ids.get(id) ?? ''),
  };
}

/** A UUID of version 1: intervals of 100 ns, a clock sequence and a node. */
function timeUuid(_: string, count: number): string {
  const time = (0x1d19dad6ba7b7n + BigInt(count) * 12_345n).toString(16).padStart(15, '0');
  return `${time.slice(7)}-${time.slice(3, 7)}-1${time.slice(0, 3)}-9f3b-02420ac88202`;
}

function constantId(): Variant {
  let id: string | undefined;
  return { open: (good) => () => (id ??= good()) };
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

/** Knows a session for a number of requests. */
export function endsAfter(maxRequests: number): Variant {
  const uses = new Map<string, number>();
  return {
    isKnown: (good) => (id) => {
      if (id === undefined || !good(id)) return false;
      uses.set(id, (uses.get(id) ?? 0) + 1);
      return (uses.get(id) ?? 0) <= maxRequests;
    },
  };
}

/** Knows a session for a time, by a clock that each request advances. */
export function endsAfterMs(ms: number, requestMs = 0): Variant {
  const clock = new Clock();
  const openedAt = new Map<string, number>();
  return {
    clock,
    answer: (good) => (request) => {
      clock.advance(requestMs);
      return good(request);
    },
    open: (good) => () => {
      const id = good();
      openedAt.set(id, clock.now());
      return id;
    },
    isKnown: (good) => (id) => good(id) && clock.now() - (openedAt.get(id ?? '') ?? 0) < ms,
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
function sharedByMessageId(): Variant {
  let overtaken: (() => void) | undefined;
  return {
    respond: (good) => async (message) => {
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
function crowded(): Variant {
  const byLastUse = new Set<string | undefined>();
  return {
    open: (good, steps) => () => {
      const id = good();
      byLastUse.add(id);
      const [oldest = id] = byLastUse;
      if (byLastUse.size > 19 && byLastUse.delete(oldest)) steps.close(oldest);
      return id;
    },
    isKnown: (good) => (id) => {
      if (byLastUse.delete(id)) byLastUse.add(id);
      return good(id);
    },
  };
}

/** Compares only a prefix of the id, for one method. */
function prefixed(method: string): Variant {
  const known = new Map<string, string>();
  const beginning = (id: string | undefined) => id?.slice(0, 8) ?? '';
  return {
    open: (good) => () => {
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
