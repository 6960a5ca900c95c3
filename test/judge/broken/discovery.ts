import type { Asked, Message, Parts } from '../reference.ts';
import { broken } from './broken-server.ts';

/** Leaves a request to the server, or answers it. */
const methodIn = ({ body = '' }: Asked): unknown => /"method":"([^"]*)"/.exec(body)?.[1];

/** A fault that no rule names. The row fails as soon as a rule does: it then gets the id of that rule. */
const unnamed = [
  broken('C§3.1', 'session ids are 1, 2, 3: anyone guesses those of others', [], (parts) => {
    const { open } = parts.sessions;
    const real = new Map<string, string>();
    const { has, end } = parts.sessions;
    parts.sessions = {
      open: () => {
        const id = String(real.size + 1);
        real.set(id, open());
        return id;
      },
      has: (id) => has(real.get(id) ?? ''),
      end: (id) => end(real.get(id) ?? ''),
    };
  }),
];

/** Servers that break discovery and the transport. */
export const brokenDiscoveries = [
  ...unnamed,
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
