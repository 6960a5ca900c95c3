import type { Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { isObject } from '../../../packages/contract/src/json/json.ts';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import type { Breaks } from '../good-server.ts';
import { type BrokenServer, instead, methodOf, withAnswer } from '../variant.ts';
import type { Request } from '../wire.ts';

/** Answers tools/list of the good server, the second page by an error. */
export const failsOnPageTwo = withAnswer((answer, request) => {
  if (methodOf(request) !== 'tools/list' || !isObject(answer.body) || !isObject(answer.body.result))
    return answer;
  if (request.body?.includes('"cursor"')) return { status: 500, body: { error: 'Internal error' } };
  const result = { ...answer.body.result, nextCursor: 'two' } as JsonObject;
  return { ...answer, body: { ...answer.body, result } };
});

/** Address, identity and the open methods. */
export const brokenDiscovery: readonly BrokenServer[] = [
  dying(({ body }) => body?.includes('prompts/list') === true),
  { rule: 'endpoint.path', url: (url) => `${url}?tenant=1` },
  { rule: 'endpoint.https', url: (url) => url.replace('127.0.0.1', '0.0.0.0') },
  { rule: 'endpoint.no-sse', url: (url) => url.replace('/mcp', '/assets/mcp') },
  { rule: 'health.status', breaks: { health: (good) => () => ({ ...good(), status: 503 }) } },
  {
    rule: 'health.fields',
    breaks: {
      health: () => () => ({ status: 200, body: { status: 'ok', server: 'good-server', version: 1 } }),
    },
  },
  {
    rule: 'health.in-time',
    breaks: instead(async (request) => {
      if (request.path === '/health') await setTimeout(5_500);
      return undefined;
    }),
  },
  {
    rule: 'health.query',
    breaks: instead(({ path, search }) =>
      path === '/health' && search ? { status: 404, body: { error: 'Not found' } } : undefined,
    ),
  },
  {
    rule: 'health.ready',
    breaks: {
      health: () => () => ({
        status: 200,
        body: { status: 'starting', server: 'good-server', version: '1.2.3' },
      }),
    },
  },
  {
    rule: 'identity.name',
    breaks: {
      initialize: (good) => (params) => ({
        ...good(params),
        serverInfo: { name: 'good-server', version: '' },
      }),
    },
  },
  {
    rule: 'identity.tools',
    breaks: { initialize: (good) => (params) => ({ ...good(params), capabilities: {} }) },
  },
  ...['logging', 'completions', 'resources'].map(
    (name): BrokenServer => ({
      rule: 'identity.capabilities',
      breaks: {
        initialize: (good) => (params) => ({
          ...good(params),
          capabilities: Object.fromEntries([
            ['tools', {}],
            [name, { subscribe: true }],
          ]) as JsonObject,
        }),
      },
    }),
  ),
  {
    rule: 'identity.same',
    breaks: {
      health: () => () => ({ status: 200, body: { status: 'ok', server: 'good-server', version: '9.9.9' } }),
    },
  },
  {
    rule: 'discovery.initialize',
    along: ['modern.unknown-method'],
    breaks: instead((request) =>
      methodOf(request) === 'initialize' && request.headers.authorization === undefined
        ? { status: 401, body: { error: 'Unauthorized' } }
        : undefined,
    ),
  },
  {
    rule: 'discovery.in-time',
    profile: (profile) => ({ ...profile, limits: { ...profile.limits, initializeMs: 100 } }),
    breaks: instead(async (request) => {
      if (methodOf(request) === 'initialize') await setTimeout(120);
      return undefined;
    }),
  },
  {
    rule: 'discovery.tools-list',
    along: ['modern.tools'],
    breaks: {
      respond: (good) => async (message) =>
        message.method === 'tools/list' ? { result: {} } : good(message),
    },
  },
  {
    rule: 'discovery.resources-list',
    breaks: {
      respond: (good) => async (message) =>
        message.method === 'resources/list' ? { result: {} } : good(message),
    },
  },
  {
    rule: 'discovery.prompts-list',
    breaks: {
      respond: (good) => async (message) =>
        message.method === 'prompts/list' ? { result: {} } : good(message),
    },
  },
  { rule: 'discovery.tools-list', along: ['modern.tools'], breaks: failsOnPageTwo },
  {
    rule: 'discovery.invalid-token',
    breaks: instead(async ({ headers: { authorization }, body }, steps) =>
      authorization !== undefined && body?.includes('/list"') && !(await steps.authorized(authorization))
        ? { status: 401, body: { error: 'Unauthorized' } }
        : undefined,
    ),
  },
  { rule: 'discovery.same-list', breaks: changesDescriptions() },
  {
    rule: 'discovery.same-list',
    breaks: { list: (good) => () => (emptyEach(7) ? [] : good()) },
  },
  {
    rule: 'discovery.bad-cursor',
    breaks: {
      respond: (good) => (message) =>
        good(message.method === 'tools/list' ? { ...message, params: {} } : message),
    },
  },
  { rule: 'discovery.tools', breaks: { list: () => () => [] } },
  {
    rule: 'discovery.client',
    breaks: {
      list: (good) => () =>
        good().map((tool) => ({ ...tool, annotations: { ...(tool.annotations as JsonObject), title: 5 } })),
    },
  },
  {
    rule: 'http.no-product-header',
    breaks: withAnswer((answer) => ({
      ...answer,
      headers: { ...answer.headers, 'x-powered-by': 'Express' },
    })),
  },
];

let lists = 0;

/** Whether this is the n-th list. */
function emptyEach(n: number): boolean {
  lists += 1;
  return lists % n === 0;
}

/** A server with another description of its first tool in each answer. */
function changesDescriptions(): BrokenServer['breaks'] {
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
function dying(ends: (request: Request) => boolean): BrokenServer {
  let server: Server | undefined;
  return {
    rule: 'endpoint.stays-up',
    attach: (attached) => {
      server = attached;
    },
    breaks: instead((request) => {
      if (!ends(request)) return undefined;
      server?.close();
      server?.closeAllConnections();
      return undefined;
    }),
  };
}

/** A server of resources alone. */
export const withoutTools: Breaks = {
  initialize: (good) => (params) => ({ ...good(params), capabilities: { resources: {} } }),
  respond: (good) => async (message) =>
    message.method.startsWith('tools/')
      ? { error: { code: -32_601, message: 'Method not found' } }
      : good(message),
};
