import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { createServer, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { serveByHand } from './by-hand.ts';
import {
  type Asked,
  type Change,
  identified,
  listening,
  type Message,
  type Parts,
  type Reply,
  type Served,
  serve,
} from './reference.ts';
import { serveSdkV1 } from './sdk-v1.ts';
import { serveSdkV2 } from './sdk-v2.ts';
import type { Trust } from './token.ts';
import type { Data, Tool } from './tools.ts';

/** A server that keeps every sentence of the contract. */
export interface CorrectServer {
  /** How it is made. */
  readonly name: string;
  readonly serve: (trust: Trust) => Promise<Served>;
  /** The findings that are true, all of them advice. */
  readonly advised: readonly string[];
}

/** The contract does not ask for the stateless revision of MCP, so it is true that the reference server lacks it. */
const legacyOnly = ['modern.served'];

/** jose accepts any iat and any exp that is not past, unless it is told more. */
const byJose = ['gate.issued-later', 'gate.long-lived'];
const like = (name: string, change: Change, advised: readonly string[] = legacyOnly): CorrectServer => ({
  name,
  serve: (trust) => serve(trust, change),
  advised,
});

const events = (text: string): Pick<Reply, 'headers' | 'body'> => ({
  headers: { 'content-type': 'text/event-stream' },
  body: text,
});

export const correctServers: readonly CorrectServer[] = [
  like('node:http, answers in JSON', () => {}),
  like('a keep-alive of 30 ms', (parts) => {
    parts.prepare = (server) => {
      server.keepAliveTimeout = 30;
    };
  }),
  like('connection: close', (parts) => {
    const { send } = parts;
    parts.send = (response, reply) =>
      send(response, { ...reply, headers: { ...reply.headers, connection: 'close' } });
  }),
  like('answers as events', (parts) => {
    parts.write = (message, headers) => {
      const { headers: type, body } = events(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
      return { status: 200, headers: { ...type, ...headers }, body };
    };
  }),
  like(
    'answers as events with comments, ids, CRLF, data on several lines and a notification before',
    (parts) => {
      parts.write = (message, headers) => {
        const progress = {
          jsonrpc: '2.0',
          method: 'notifications/message',
          params: { level: 'info', data: 'on it' },
        };
        const lines = JSON.stringify(message, null, 1)
          .split('\n')
          .map((line) => `data: ${line}`);
        const body = [
          ': hello',
          '',
          'retry: 5000',
          `data: ${JSON.stringify(progress)}`,
          '',
          'id: 7',
          ...lines,
          '',
          '',
        ];
        return { status: 200, headers: { ...events('').headers, ...headers }, body: body.join('\r\n') };
      };
    },
  ),
  like('texts and messages pretty-printed', (parts) => {
    const { result, write } = parts;
    parts.result = (data, isError) => ({
      ...result(data, isError),
      content: [{ type: 'text', text: JSON.stringify(data, null, 2) }],
    });
    parts.write = (message, headers, asked) => {
      const reply = write(message, headers, asked);
      return {
        ...reply,
        body: `${JSON.stringify(reply.body, null, '\t')}\n`,
        headers: { ...headers, ...json },
      };
    };
  }),
  like('further content blocks after the text, audiences, _meta', (parts) => {
    const { result } = parts;
    parts.result = (data, isError) => ({
      ...result(data, isError),
      content: [
        {
          type: 'text',
          text: JSON.stringify(data),
          annotations: { audience: ['user', 'assistant'], priority: 1 },
        },
        { type: 'text', text: 'Source: our own tables.' },
        { type: 'resource_link', uri: 'https://lakes.example.com/sources', name: 'sources' },
      ],
      _meta: { 'example.com/took': 3 },
    });
  }),
  like('structuredContent in another order of keys than the text', (parts) => {
    const { result } = parts;
    parts.result = (data, isError) => ({
      ...result(data, isError),
      structuredContent: Object.fromEntries(Object.entries(data).toReversed()),
    });
  }),
  like('200 ms for each answer', (parts) => {
    const { route } = parts;
    parts.route = async (asked) => {
      await setTimeout(200);
      return route(asked);
    };
  }),
  like('one tool on each page of the list', (parts) => {
    parts.list = (cursor) => {
      const at = cursor === undefined ? 0 : Number(Buffer.from(String(cursor), 'base64url'));
      const next = at + 1 < parts.tools.length && Buffer.from(String(at + 1)).toString('base64url');
      return { tools: [parts.tools[at]?.definition], ...(next && { nextCursor: next }) };
    };
  }),
  like('no stream and no DELETE: 405 for known sessions', (parts) => {
    const { route } = parts;
    parts.route = async (asked) => {
      const reply = await route(asked);
      return asked.path === '/mcp' && asked.method !== 'POST' && reply.status < 300 ? { status: 405 } : reply;
    };
  }),
  like('sessions in a signature, not in memory, and never ended', (parts) => {
    parts.sessions = signed(() => `${randomUUID()}~${'n'.repeat(200)}`);
    neverEnded(parts);
  }),
  like('sessions that count up, in a signature', (parts) => {
    let count = 0;
    parts.sessions = signed(() => {
      count += 1;
      return `lakes-and-tides-session-${count}`;
    });
    neverEnded(parts);
  }),
  like('sessions with the time before 74 random bits (UUID of version 7)', identified(datedUuid)),
  like('batches, as MCP 2025-03-26 has them, each call paid', (parts) => {
    const { post, parse } = parts;
    parts.post = async (asked) => {
      const messages = jsonOf(asked, parse);
      if (!Array.isArray(messages) || parts.precheck(asked)) return post(asked);
      if (parts.isCharged(messages) && !parts.isPaid(asked.headers.authorization))
        return parts.unauthorized();
      if (
        messages.length === 0 ||
        messages.some((one) => Array.isArray(one) || one?.method === 'initialize')
      ) {
        return { status: 400, body: 'Not a batch of requests' };
      }
      const replies: Reply[] = [];
      for (const one of messages) replies.push(await post({ ...asked, body: JSON.stringify(one) }));
      const refused = replies.find(({ status }) => status >= 400);
      return refused ?? { status: 200, body: replies.flatMap(({ body }) => body ?? []) };
    };
  }),
  like('wrong arguments and broken bodies are refused in other words than ours', (parts) => {
    const { run, post, parse } = parts;
    const wrong = Symbol('wrong');
    parts.run = async (name, args) => {
      const result = (await run(name, args)) as { structuredContent?: Data };
      return result.structuredContent?.error === 'BAD_ARGUMENTS' ? { [wrong]: true } : result;
    };
    const { answer } = parts;
    parts.answer = async (message, asked, headers) => {
      const reply = await answer(message, asked, headers);
      const { result } = (reply.body ?? {}) as { result?: Record<symbol, unknown> };
      if (result?.[wrong] === undefined) return reply;
      const error = { code: -32602, message: 'Invalid arguments' };
      return { ...reply, body: { jsonrpc: '2.0', id: message.id, error } };
    };
    parts.post = async (asked) =>
      jsonOf(asked, parse) === undefined
        ? { status: 400, body: 'Invalid JSON', headers: plain }
        : post(asked);
  }),
  like('every result says isError, absent fields are left out, data in other scripts', (parts) => {
    const { result } = parts;
    parts.tools = parts.tools.map(({ definition, find }) => {
      const outputSchema = { ...(definition.outputSchema as Data), required: [] };
      return { definition: { ...definition, outputSchema }, find };
    });
    parts.result = (data, isError) => {
      const given = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
      const note = isError || data.noResultsReason ? {} : { message: 'Größe, 深さ, 🌊 \u2028 "quoted"\n' };
      return { ...result({ ...given, ...note }, isError), isError };
    };
  }),
  like('required fields that are never null: the argument, a count, a list, searchExhausted', (parts) => {
    const tides = parts.tools.find(({ definition }) => definition.name === 'high_tides') as Tool;
    const { properties, ...rest } = tides.definition.outputSchema as { properties: Record<string, Data> };
    const outputSchema = {
      ...rest,
      properties: {
        ...properties,
        port: { type: 'string', description: 'The port that was asked for.' },
        count: { type: 'integer', description: 'Number of high tides.', minimum: 0 },
        tides: { ...properties.tides, type: 'array' },
        searchExhausted: { type: 'boolean', description: 'Whether all our tables were searched in vain.' },
      },
      required: ['port', 'count', 'tides', 'searchExhausted'],
    };
    parts.tools = parts.tools.map((tool) =>
      tool === tides ? { ...tool, definition: { ...tool.definition, outputSchema } } : tool,
    );
    const { run, result } = parts;
    parts.run = async (name, args) => {
      const done = (await run(name, args)) as { structuredContent?: Data; isError?: boolean };
      const { structuredContent: data, isError = false } = done;
      if (name !== 'high_tides' || !data) return done;
      const { port = 'Brest' } = (args ?? {}) as { port?: unknown };
      const { noResultsReason: _, count, tides: list, ...other } = data;
      const searchExhausted = !isError && count === null;
      return result(
        { ...other, port: String(port), count: count ?? 0, tides: list ?? [], searchExhausted },
        isError,
      );
    };
  }),
  { name: 'node:net, every header and chunk by hand', serve: serveByHand, advised: legacyOnly },
  { name: 'behind a proxy', serve: proxied, advised: legacyOnly },
  {
    name: 'express and SDK v1, answers in JSON',
    serve: (trust) => serveSdkV1(trust, { json: true }),
    advised: [...byJose, ...legacyOnly],
  },
  {
    name: 'express and SDK v1, answers as events',
    serve: (trust) => serveSdkV1(trust, { json: false }),
    advised: [...byJose, ...legacyOnly],
  },
  // The SDK writes id: null into the errors of its own.
  { name: 'hono and SDK v2, both eras', serve: serveSdkV2, advised: [...byJose, 'modern.error-id'] },
];

const json = { 'content-type': 'application/json; charset=UTF-8' };
const plain = { 'content-type': 'text/plain' };

/** Sessions that are known by their signature. */
function signed(textOf: () => string): Parts['sessions'] {
  const secret = randomBytes(32);
  const sign = (text: string) => `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  return {
    open: () => sign(textOf()),
    has: (id) => sign(id.split('.')[0] ?? '') === id,
    end: () => {},
  };
}

function neverEnded(parts: Parts): void {
  const { route } = parts;
  parts.route = async (asked) => (asked.method === 'DELETE' ? { status: 405 } : route(asked));
}

function datedUuid(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const random = randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}

function jsonOf(
  { body }: Asked,
  parse: (text: string) => unknown,
): Message | readonly (Message | null)[] | undefined {
  try {
    return parse(body ?? '') as Message;
  } catch {
    return undefined;
  }
}

/** Another program between the caller and the server, with connections of its own. */
async function proxied(trust: Trust): Promise<Served> {
  const inner = await serve(trust);
  const outer = await listening(
    createServer((incoming, outgoing) => {
      const { host: _, connection: __, ...headers } = incoming.headers;
      const { method } = incoming;
      const url = new URL(incoming.url ?? '/', inner.url);
      const onward = request(url, { method, headers: { ...headers, via: '1.1 front' } }, (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, { ...reply.headers, via: '1.1 front' });
        outgoing.flushHeaders();
        reply.pipe(outgoing);
        outgoing.once('close', () => reply.destroy());
      });
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    }),
  );
  const stop = async () => {
    await outer.stop();
    await inner.stop();
  };
  return { url: outer.url, stop };
}
