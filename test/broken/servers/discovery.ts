import type { Server } from 'node:http';
import { isObject } from '../../../packages/contract/src/json/json.ts';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import type { Breaks } from '../good-server.ts';
import {
  type Broken,
  defines,
  instead,
  introduces,
  late,
  limited,
  methodOf,
  responds,
  type Variant,
  where,
  withAnswer,
} from '../variant.ts';
import type { Answer, Request } from '../wire.ts';

/** Answers tools/list of the good server, the second page by an error. */
export const failsOnPageTwo = withAnswer((answer, request) => {
  if (methodOf(request) !== 'tools/list' || !isObject(answer.body) || !isObject(answer.body.result))
    return answer;
  if (request.body?.includes('"cursor"')) return { status: 500, body: { error: 'Internal error' } };
  const result = { ...answer.body.result, nextCursor: 'two' } as JsonObject;
  return { ...answer, body: { ...answer.body, result } };
});

/** Answers GET /health late. The other limits leave time for answers that arrive meanwhile. */
export const lateHealth: Variant = {
  ...limited({ initializeMs: 600_000, callMs: 600_000, submissionMs: 600_000 }),
  ...late(5_500, ({ path }) => path === '/health'),
};

/** Address, identity and the open methods. */
export const brokenDiscovery: Broken<Variant> = {
  'endpoint.stays-up': dying(({ body }) => body?.includes('prompts/list') === true),
  'identity.capabilities': ['logging', 'completions', 'resources'].map((name) =>
    introduces({ capabilities: { tools: {}, [name]: { subscribe: true } } }),
  ),
  'identity.logging': withAnswer((answer, request) => {
    if (methodOf(request) !== 'tools/call' || answer.status !== 200) return answer;
    const params = { level: 'info', data: 'looking up the price' };
    const messages = [{ jsonrpc: '2.0', method: 'notifications/message', params }, answer.body];
    const body = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('');
    return { ...answer, headers: { ...answer.headers, 'content-type': 'text/event-stream' }, body };
  }),
  'endpoint.path': { url: (url) => `${url}?tenant=1` },
  'endpoint.https': { url: (url) => url.replace('127.0.0.1', '0.0.0.0') },
  'endpoint.no-sse': { url: (url) => url.replace('/mcp', '/assets/mcp') },
  'health.status': { health: (good) => () => ({ ...good(), status: 503 }) },
  'health.fields': says({ version: 1 }),
  'health.in-time': lateHealth,
  'health.type': { health: (good) => () => ({ ...good(), headers: { 'content-type': 'text/plain' } }) },
  'health.query': where(({ path, search }) => path === '/health' && search, {
    status: 404,
    body: { error: 'Not found' },
  }),
  'health.ready': says({ status: 'starting' }),
  'identity.name': introduces({ serverInfo: { name: 'good-server', version: '' } }),
  'identity.tools': introduces({ capabilities: {} }),
  'identity.same': says({ version: '9.9.9' }),
  'discovery.initialize modern.unknown-method': where(
    (request) => methodOf(request) === 'initialize' && request.headers.authorization === undefined,
    { status: 401, body: { error: 'Unauthorized' } },
  ),
  'discovery.in-time': {
    ...limited({ initializeMs: 100 }),
    ...late(120, (request) => methodOf(request) === 'initialize'),
  },
  'discovery.tools-list modern.tools': [lists('tools'), failsOnPageTwo],
  'discovery.resources-list': lists('resources'),
  'discovery.prompts-list': lists('prompts'),
  'discovery.invalid-token': instead(async ({ headers: { authorization }, body }, steps) =>
    authorization !== undefined && body?.includes('/list"') && !(await steps.authorized(authorization))
      ? { status: 401, body: { error: 'Unauthorized' } }
      : undefined,
  ),
  'discovery.same-list': [changesDescriptions(), emptyEach(7), listsInOneSession(), listsLessToSdk()],
  'discovery.bad-cursor': {
    respond: (good) => (message) =>
      good(message.method === 'tools/list' ? { ...message, params: {} } : message),
  },
  'discovery.tools': [{ list: () => () => [] }, repeatsPages()],
  'discovery.client': defines(({ annotations, ...tool }) => ({
    ...tool,
    annotations: { ...(annotations as JsonObject), title: 5 },
  })),
  'http.no-product-header': withAnswer((answer) => ({
    ...answer,
    headers: { ...answer.headers, 'x-powered-by': 'Express' },
  })),
};

/** Answers GET /health with other members. */
function says(other: JsonObject): Variant {
  const body = { status: 'ok', server: 'good-server', version: '1.2.3', ...other };
  return { health: () => () => ({ status: 200, body }) };
}

/** Answers a list request by a result without a list. */
function lists(kind: string): Variant {
  return responds(({ method }) => (method === `${kind}/list` ? { result: {} } : undefined));
}

function emptyEach(n: number): Variant {
  let count = 0;
  return { list: (good) => () => (++count % n === 0 ? [] : good()) };
}

/** A server whose fourth session of those that are opened at once has a shorter list. */
function listsInOneSession(): Variant {
  const sessions: string[] = [];
  return {
    open: (good) => () => {
      sessions.push(good());
      return sessions.at(-1) ?? '';
    },
    ...withAnswer((answer, request) =>
      methodOf(request) === 'tools/list' && sessions.indexOf(sessionIn(request)) % 23 === 22
        ? shorterList(answer)
        : answer,
    ),
  };
}

/** A server that lists fewer tools to the client of the SDK. */
function listsLessToSdk(): Variant {
  return withAnswer((answer, request) =>
    methodOf(request) === 'tools/list' && request.headers['user-agent'] === 'node'
      ? shorterList(answer)
      : answer,
  );
}

function sessionIn({ headers }: Request): string {
  return String(headers['mcp-session-id']);
}

function shorterList(answer: Answer): Answer {
  if (!isObject(answer.body) || !isObject(answer.body.result)) return answer;
  const { tools } = answer.body.result as { readonly tools?: readonly JsonObject[] };
  return { ...answer, body: { ...answer.body, result: { tools: tools?.slice(0, 1) } } };
}

/** A server with another description of its first tool in each answer. */
function changesDescriptions(): Variant {
  let count = 0;
  return {
    list: (good) => () => {
      count += 1;
      const [first = {}, ...others] = good();
      return [{ ...first, description: `${first.description} (${count})` }, ...others];
    },
  };
}

/** A server that ends, with every connection, on some request. */
function dying(ends: (request: Request) => boolean): Variant {
  let server: Server | undefined;
  return {
    attach: (attached) => {
      server = attached;
    },
    ...instead((request) => {
      if (!ends(request)) return undefined;
      server?.close();
      server?.closeAllConnections();
      return undefined;
    }),
  };
}

/** A server of resources alone. */
export const withoutTools: Breaks = {
  ...introduces({ capabilities: { resources: {} } }),
  ...responds(({ method }) =>
    method.startsWith('tools/') ? { error: { code: -32_601, message: 'Method not found' } } : undefined,
  ),
};

/** Answers each cursor of its own by the first page, and sends one more: the list has no end. */
function repeatsPages(): Variant {
  let page = 0;
  return {
    respond: (good, steps) => async (message) => {
      const { cursor = 'page-0' } = isObject(message.params) ? message.params : {};
      if (message.method !== 'tools/list' || !String(cursor).startsWith('page-')) return good(message);
      page += 1;
      return { result: { tools: steps.list(), nextCursor: `page-${page}` } };
    },
  };
}
