import type { Asked, Message, Parts, Reply } from '../reference.ts';
import type { Data } from '../tools.ts';
import { broken } from './broken-server.ts';

const post =
  (edit: (asked: Asked, next: (asked: Asked) => Promise<Reply>, parts: Parts) => Promise<Reply> | Reply) =>
  (parts: Parts) => {
    const { post } = parts;
    parts.post = async (asked) => edit(asked, post, parts);
  };
/** Refuses or changes a request before anything else sees it. */
const route =
  (edit: (asked: Asked, next: (asked: Asked) => Promise<Reply>, parts: Parts) => Promise<Reply> | Reply) =>
  (parts: Parts) => {
    const { route } = parts;
    parts.route = async (asked) => edit(asked, route, parts);
  };
const methodOf = ({ body = '' }: Asked): unknown => {
  try {
    return (JSON.parse(body) as Message).method;
  } catch {
    return undefined;
  }
};
const error = (code: number, message: string): Data => ({
  jsonrpc: '2.0',
  id: null,
  error: { code, message },
});

/** No answer at all. */
const silence = new Promise<Reply>(() => {});

/** Rules that expect the answer to a POST outside any session, and to a GET. */
const onPost = [
  'foreign-initialize',
  'long',
  'missing-call',
  'missing-post',
  'prototype',
  'tampered',
  'unknown-post',
];
const onGet = ['long-get', 'missing-get', 'prototype-get', 'tampered-get', 'unknown-get'];
const named = (names: readonly string[]) => names.map((name) => `session.${name}`);

/** Sessions: C§3.1, C§7. */
export const brokenSessions = [
  broken(
    'C§3.1',
    'no session: the header is missing',
    named(['open', 'missing-post', 'missing-get', 'missing-call']),
    (parts) => {
      const { write, known } = parts;
      parts.write = (message, _, asked) => write(message, {}, asked);
      parts.known = (asked, message) =>
        known(asked, message) ?? (asked.headers['mcp-session-id'] === undefined ? 'all' : undefined);
    },
  ),
  broken(
    'C§3.1',
    'the session is in a global: a new one ends the old one',
    ['session.two-at-once'],
    (parts) => {
      const { open } = parts.sessions;
      let current = '';
      parts.sessions = {
        open: () => {
          current = open();
          return current;
        },
        has: (id) => id === current,
        end: () => {
          current = '';
        },
      };
    },
  ),
  broken(
    'C§3.1',
    'one protocol object for all sessions: only the session that was opened last gets answers',
    'session.two-at-once',
    (parts) => {
      const { open } = parts.sessions;
      let last = '';
      parts.sessions.open = () => {
        last = open();
        return last;
      };
      const { post } = parts;
      parts.post = async (asked) => {
        const reply = await post(asked);
        const session = parts.sessionOf(asked);
        return reply.status === 200 && session !== undefined && session !== last ? silence : reply;
      };
    },
  ),
  broken('C§3.1', 'every initialize returns the same session', named(['unique', 'delete']), (parts) => {
    const { open } = parts.sessions;
    let only: string | undefined;
    parts.sessions.open = () => {
      only ??= open();
      return only;
    };
    parts.sessions.end = () => {};
  }),
  broken('C§3.1', 'at most ten sessions', ['session.parallel'], (parts) => {
    let count = 0;
    const { post } = parts;
    parts.post = async (asked) => {
      if (methodOf(asked) !== 'initialize' || parts.sessionOf(asked) !== undefined) return post(asked);
      count += 1;
      setTimeout(() => {
        count -= 1;
      }, 300).unref();
      return count > 10 ? { status: 503, body: 'Too many sessions' } : post(asked);
    };
  }),
  broken(
    'C§3.1',
    'a session is dropped after three requests unless its caller has listed the tools',
    'session.lasting',
    (parts) => {
      const left = new Map<string, number>();
      const { post } = parts;
      parts.post = async (asked) => {
        const id = parts.sessionOf(asked) ?? '';
        const count = methodOf(asked) === 'tools/list' ? Number.POSITIVE_INFINITY : (left.get(id) ?? 3) - 1;
        left.set(id, count);
        return id !== '' && count < 0 ? parts.invalidSession() : post(asked);
      };
    },
  ),
  broken(
    'C§7',
    'an unknown session is 404, as MCP has it',
    named([...onPost, ...onGet, 'delete']),
    (parts) => {
      parts.invalidSession = () => ({ status: 404, body: { error: 'Invalid session' } });
    },
  ),
  broken('C§7', 'an unknown session is a JSON-RPC error', named([...onPost, ...onGet, 'delete']), (parts) => {
    parts.invalidSession = () => ({
      status: 400,
      body: error(-32000, 'Bad Request: No valid session ID provided'),
    });
  }),
  broken('C§3.1', 'POST does not ask for a session', named([...onPost, 'delete']), (parts) => {
    const { known } = parts;
    parts.known = (asked, message) => known(asked) ?? (message ? 'any' : undefined);
  }),
  broken('C§3.1', 'a call does not ask for a session', 'session.missing-call', (parts) => {
    const { known } = parts;
    parts.known = (asked, message) => known(asked) ?? (message?.method === 'tools/call' ? 'any' : undefined);
  }),
  broken(
    'C§3.1',
    'GET does not ask for a session',
    named([...onGet, 'delete']),
    route((asked, next) =>
      asked.method === 'GET' && asked.path === '/mcp'
        ? { status: 200, headers: { 'content-type': 'text/event-stream' }, open: true }
        : next(asked),
    ),
  ),
  broken(
    'C§3.1',
    'GET of a known session is 404',
    'session.get-known',
    route(async (asked, next) => {
      const reply = await next(asked);
      return reply.open ? { status: 404 } : reply;
    }),
  ),
  broken(
    'C§3.1',
    'sessions are the keys of a plain object',
    named(['prototype', 'prototype-get', 'delete-unknown']),
    (parts) => {
      const { has } = parts.sessions;
      parts.sessions.has = (id) => has(id) || id in {};
    },
  ),
  broken(
    'C§3.1',
    'a session is compared by its first eight characters',
    named(['tampered', 'tampered-get', 'delete-unknown']),
    (parts) => {
      const { open, has } = parts.sessions;
      const known = new Map<string, string>();
      parts.sessions.open = () => {
        const id = open();
        known.set(id.slice(0, 8), id);
        return id;
      };
      parts.sessions.has = (id) => has(known.get(id.slice(0, 8)) ?? '');
    },
  ),
  broken(
    'C§3.1',
    'initialize takes the session that the caller names',
    'session.foreign-initialize',
    post((asked, next) =>
      methodOf(asked) === 'initialize'
        ? next({ ...asked, headers: { ...asked.headers, 'mcp-session-id': undefined } })
        : next(asked),
    ),
  ),
  broken('MCP 2025-06-18', 'DELETE says that a session ended, and keeps it', 'session.delete', (parts) => {
    parts.sessions.end = () => {};
  }),
  broken(
    'C§7',
    'a long session id is 431',
    named(['long', 'long-get', 'delete-unknown']),
    route((asked, next) =>
      String(asked.headers['mcp-session-id'] ?? '').length > 1000 ? { status: 431 } : next(asked),
    ),
  ),
];

/** Requests and their transport: C§4, C§9, MCP. */
export const brokenMessages = [
  broken(
    'C§4',
    '406 unless Accept names both types',
    ['http.accept-absent', 'http.accept-any', 'http.accept-json', 'http.accept-events'],
    post((asked, next) => {
      const accept = asked.headers.accept ?? '';
      return accept.includes('json') && accept.includes('event-stream')
        ? next(asked)
        : { status: 406, body: error(-32000, 'Not Acceptable') };
    }),
  ),
  broken(
    'C§4',
    'Content-Type is compared as a whole',
    'http.charset',
    post((asked, next) =>
      asked.headers['content-type'] === 'application/json'
        ? next(asked)
        : { status: 415, body: error(-32600, 'Send JSON') },
    ),
  ),
  broken(
    'C§1.4',
    'only Host: localhost is answered',
    'http.any-host',
    route((asked, next) =>
      /^(localhost|127\.0\.0\.1)(:|$)/.test(asked.headers.host ?? '')
        ? next(asked)
        : { status: 403, body: error(-32000, 'Invalid Host') },
    ),
  ),
  broken('C§4', 'ids are numbers: a string becomes null', 'protocol.string-id', (parts) => {
    const { write } = parts;
    parts.write = (message, headers, asked) => write({ ...message, id: Number(message.id) }, headers, asked);
  }),
  broken(
    'C§4',
    'if (!id) it is a notification',
    'protocol.envelope',
    post((asked, next) => (asked.body?.includes('"id":0,') ? { status: 202 } : next(asked))),
  ),
  broken('C§4', 'responses do not say jsonrpc', ['protocol.envelope', 'discovery.client'], (parts) => {
    const { write } = parts;
    parts.write = ({ jsonrpc: _, ...message }, headers, asked) => write(message, headers, asked);
  }),
  broken(
    'C§4',
    'params are read although they are optional',
    ['protocol.optional-params', 'discovery.prompts-list', 'discovery.invalid-token'],
    (parts) => {
      const { answer } = parts;
      parts.answer = async (message, asked, headers) => {
        if (message.params === undefined && message.method === 'prompts/list')
          return { status: 500, body: 'Internal error' };
        return answer(message, asked, headers);
      };
    },
  ),
  broken('C§4.1', 'resources/list does not exist', 'discovery.resources-list', (parts) => {
    delete parts.methods['resources/list'];
  }),
  broken('C§4.1', 'prompts/list is an empty object', 'discovery.prompts-list', (parts) => {
    parts.methods['prompts/list'] = () => ({});
  }),
  broken('JSON-RPC 2.0', 'an unknown method is an empty result', 'protocol.unknown-method', (parts) => {
    const { answer } = parts;
    parts.answer = async (message, asked, headers) =>
      Object.hasOwn(parts.methods, String(message.method))
        ? answer(message, asked, headers)
        : parts.write({ jsonrpc: '2.0', id: message.id, result: {} }, headers, asked);
  }),
  broken('JSON-RPC 2.0', 'methods are the keys of a plain object', 'protocol.unknown-method', (parts) => {
    const { answer } = parts;
    parts.answer = (message, asked, headers) => {
      if (!(String(message.method) in {})) return answer(message, asked, headers);
      throw new TypeError('handler is not a function');
    };
  }),
  broken(
    'JSON-RPC 2.0',
    'a notification is answered with an error',
    'protocol.notification',
    post((asked, next) =>
      String(methodOf(asked)).startsWith('notifications/')
        ? { status: 200, body: error(-32601, 'Method not found') }
        : next(asked),
    ),
  ),
  broken(
    'C§9.1',
    '2024-11-05 is too old: the newest version is answered',
    'protocol.platform-version',
    (parts) => {
      const { initialize } = parts.methods;
      parts.methods.initialize = (params, asked) => {
        const isOld = params.protocolVersion === '2024-11-05';
        return initialize?.(isOld ? { ...params, protocolVersion: '2025-11-25' } : params, asked);
      };
    },
  ),
  broken('C§9.1', 'an unsupported version is repeated', 'protocol.unknown-version', (parts) => {
    const { initialize } = parts.methods;
    parts.methods.initialize = (params, asked) => ({
      ...(initialize?.(params, asked) as Data),
      protocolVersion: params.protocolVersion,
    });
  }),
  broken('C§1.1', 'no tool yet', 'discovery.tools', (parts) => {
    parts.tools = [];
  }),
  broken(
    'MCP 2025-06-18',
    'the list never ends: the last page names the first one',
    ['discovery.tools', 'tool.name-unique', 'tool.description-distinct', 'fit.tokens-list'],
    (parts) => {
      const { list } = parts;
      parts.list = (cursor) => ({ ...list(cursor), nextCursor: 'start' });
    },
  ),
  broken('MCP 2025-06-18', 'streams that answer a request stay open', 'http.stream-ends', (parts) => {
    const { send } = parts;
    parts.write = (message, headers) => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream', ...headers },
      body: `data: ${JSON.stringify(message)}\n\n`,
    });
    parts.send = (response, reply) => {
      if (reply.headers?.['content-type'] !== 'text/event-stream' || reply.open) return send(response, reply);
      response.writeHead(reply.status, reply.headers);
      response.write(reply.body);
    };
  }),
  broken(
    'MCP 2025-06-18',
    'a request from any web page is answered',
    'http.foreign-origin',
    post((asked, next) => next({ ...asked, headers: { ...asked.headers, origin: undefined } })),
  ),
  broken(
    'C§4',
    'a body that cannot be read is 500 with a stack',
    ['http.malformed', 'http.empty', 'http.no-stack'],
    (parts) => {
      const { post, parse } = parts;
      parts.post = async (asked) => {
        try {
          if (asked.body !== undefined) parse(asked.body);
        } catch (problem) {
          return { status: 500, body: String((problem as Error).stack) };
        }
        return post(asked);
      };
    },
  ),
  broken('C§8', 'bodies of any size', ['http.large-body', 'http.large-body-chunked'], (parts) => {
    parts.maximum = 100_000_000;
  }),
  broken('OWASP', 'X-Powered-By', 'http.no-product-header', (parts) => {
    const { send } = parts;
    parts.send = (response, reply) =>
      send(response, { ...reply, headers: { ...reply.headers, 'x-powered-by': 'Express' } });
  }),
];
