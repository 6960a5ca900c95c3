import { type Asked, identified, type Message, type Parts } from '../reference.ts';
import { broken } from './broken-server.ts';

/** Leaves a request to the server, or answers it. */
const methodIn = ({ body = '' }: Asked): unknown => /"method":"([^"]*)"/.exec(body)?.[1];

/** Ids of sessions that anyone guesses who has one. */
const guessable = [
  ['1, 2, 3', String],
  ['counts before the name of the host', (count: number) => `${count + 8}-of-lakes.example.com`],
  ['times in nanoseconds', () => String(process.hrtime.bigint())],
  ['UUIDs of version 1', () => timeUuid()],
  ['counts in base64', (count: number) => Buffer.from(JSON.stringify({ count })).toString('base64url')],
] as const;

let tick = 0x1d19dad6ba7b7n;
/** A UUID of 100-nanosecond intervals, a clock sequence and a node. */
function timeUuid(): string {
  tick += 10_000n + (process.hrtime.bigint() % 5_000n);
  const time = tick.toString(16).padStart(15, '0');
  return `${time.slice(7)}-${time.slice(3, 7)}-1${time.slice(0, 3)}-9f3b-02420ac88202`;
}

/** Servers that break discovery and the transport. */
export const brokenDiscoveries = [
  ...guessable.map(([ids, idOf]) =>
    broken('C§3.1, MCP', `session ids are ${ids}`, ['session.unguessable'], identified(idOf)),
  ),
  broken('C§1.2, C§4.1', 'the second page of the tools is an error', ['discovery.tools-list'], (parts) => {
    const { list, answer } = parts;
    parts.list = (cursor) => ({ ...list(cursor), nextCursor: 'second' });
    parts.answer = async (message, asked, headers) => {
      const { cursor } = (message.params ?? {}) as { cursor?: unknown };
      return cursor === undefined ? answer(message, asked, headers) : { status: 500, body: 'No such page' };
    };
  }),
  broken('C§5.2, facts', 'tools/list with an invalid token is 401', ['discovery.invalid-token'], (parts) => {
    const { post } = parts;
    parts.post = async (asked) => {
      const { authorization } = asked.headers;
      const isWrong = authorization !== undefined && !parts.isPaid(authorization);
      return isWrong && methodIn(asked) === 'tools/list' ? parts.unauthorized() : post(asked);
    };
  }),
  broken(
    'C§3.1, RFC 9110',
    'the header is read as Mcp-Session-Id or mcp-session-id only',
    ['session.header-case'],
    (parts) => {
      const { sessionOf } = parts;
      parts.sessionOf = (asked) =>
        asked.raw.some((name) => ['mcp-session-id', 'Mcp-Session-Id'].includes(name))
          ? sessionOf(asked)
          : undefined;
    },
  ),
  broken('RFC 9112', 'a body without Content-Length is 411', ['http.chunked'], (parts) => {
    const { route } = parts;
    parts.route = async (asked) =>
      asked.headers['transfer-encoding'] === undefined
        ? route(asked)
        : { status: 411, body: 'Length Required' };
  }),
  broken(
    'C§2.1, C§4.1',
    'tools/list has another tool every second time',
    ['discovery.same-list'],
    (parts) => {
      const { list } = parts;
      let times = 0;
      parts.list = (cursor) => {
        times += 1;
        const { tools } = list(cursor) as { tools: Message[] };
        return { tools: times % 2 === 0 ? tools.toReversed() : tools };
      };
    },
  ),
] satisfies readonly { change: (parts: Parts) => void }[];
