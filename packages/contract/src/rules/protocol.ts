import { isObject, shorten } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { supportedVersions } from '../wire/client.ts';
import { initializesAgain, lists, triesMcp } from '../wire/controls.ts';
import type { HttpAnswer } from '../wire/http.ts';
import type { Probe } from '../wire/probe.ts';
import { platformVersion } from '../wire/requests.ts';
import { describe, nextId, type RpcAnswer, rpcAnswer, rpcRequest } from '../wire/rpc.ts';
import {
  answerProblems,
  carriedOutProblems,
  holdsResult,
  rejectedProblems,
  resultProblems,
} from './answer-problems.ts';
import { type LiveRule, must, problemsAt, problemsInParallel, problemUnless, should } from './rule.ts';

/** JSON-RPC 2.0 and the versions of MCP. */
export const protocolRules: readonly LiveRule[] = [
  {
    ...must('protocol.platform-version', 'C§9.1'),
    title: `protocolVersion ${platformVersion} is accepted`,
    fix: `Support version ${platformVersion}: the platform sends it.`,
    turn: 'opening',
    controls: [initializesAgain],
    check: async (probe) => {
      await probe.session();
      return versionProblems(await probe.initializeWithRetries(platformVersion), [platformVersion]);
    },
  },
  {
    ...should('protocol.later-versions', 'MCP 2025-06-18, lifecycle'),
    title: 'every later protocolVersion of the SDK is accepted',
    fix: 'Answer with the requested version.',
    turn: 'opening',
    controls: [initializesAgain],
    check: async (probe) => {
      await probe.session();
      const later = (await supportedVersions()).filter((version) => version > platformVersion);
      return problemsInParallel(later, async (version) =>
        versionProblems(await probe.initializeWithRetries(version), [version]),
      );
    },
  },
  {
    ...should('protocol.unknown-version', 'MCP 2025-06-18, lifecycle'),
    title: 'an unknown protocolVersion is answered with a supported one',
    fix: 'Answer with the newest version the server supports.',
    turn: 'opening',
    controls: [initializesAgain],
    check: async (probe) => {
      await probe.session();
      return versionProblems(await probe.initializeWithRetries('1999-12-31'), await supportedVersions());
    },
  },
  {
    ...should('protocol.version-header', 'MCP 2025-11-25, transports: protocol version header'),
    title: 'a request whose MCP-Protocol-Version is none that exists is refused',
    fix: 'Answer HTTP 400 if the header names a version that the server does not support.',
    controls: [lists],
    check: async (probe) => {
      const version = '1900-01-01';
      const { http } = await probe.rpc('tools/list', undefined, {
        headers: { 'mcp-protocol-version': version },
      });
      return rejectedProblems(http, `tools/list, MCP-Protocol-Version: ${version}`);
    },
  },
  {
    ...must('protocol.envelope', 'C§4'),
    title: 'every response is JSON-RPC 2.0 and repeats the id',
    fix: 'Answer {"jsonrpc": "2.0", "id": <id of the request>, "result": …}.',
    turn: 'last',
    controls: [triesMcp],
    check: async (probe) => {
      const session = await probe.session().catch(() => undefined);
      await listWithIdZero(probe, session).catch(() => undefined);
      return probe.ledger.problemsOf('envelope');
    },
  },
  {
    ...must('protocol.string-id', 'C§4'),
    title: 'an id may be a string, or 0',
    fix: 'Repeat the id unchanged, and compare it with undefined: 0 and "" are ids.',
    controls: [lists],
    mustAnswer: true,
    check: async (probe) => {
      const session = await probe.session();
      const stringIds = ['an id of "quotes" and ünicode', '4711'];
      const ofStrings = await problemsInParallel(stringIds, async (id) => {
        const answer = await probe.post(rpcRequest(id, 'tools/list'), { session });
        return resultProblems(rpcAnswer(answer, id), `tools/list with id ${shorten(id)}`);
      });
      const zero = await listWithIdZero(probe, session);
      if (holdsResult(zero)) return ofStrings; // protocol.envelope compares the ids
      return [...ofStrings, ...resultProblems(rpcAnswer(zero, 0), 'tools/list with id 0')];
    },
  },
  {
    ...must('protocol.optional-params', 'C§4'),
    title: 'the list methods accept requests with and without params',
    fix: 'Treat absent params as {}.',
    controls: [lists],
    mustAnswer: true,
    check: async (probe) => {
      const variants: readonly (Json | undefined)[] = [undefined, {}];
      const ofMethods = await Promise.all(
        ['tools/list', 'resources/list', 'prompts/list'].map((method) =>
          Promise.all(
            variants.map(async (params) =>
              carriedOutProblems(await probe.rpc(method, params), `${method} with params ${shorten(params)}`),
            ),
          ),
        ),
      );
      // A method that fails with and without params is checked by `discovery.*`.
      return ofMethods
        .filter((problemLists) => problemLists.some((problems) => problems.length === 0))
        .flat(2);
    },
  },
  {
    ...must('protocol.unknown-method', 'C§4 (JSON-RPC 2.0 §5.1)'),
    title: 'an unknown method is answered with error -32601',
    fix: 'Answer the JSON-RPC error -32601 (method not found).',
    controls: [lists],
    mustAnswer: 'in-time',
    check: async (probe) => {
      const methods = ['tools/destroy', '__proto__', 'constructor'];
      return problemsInParallel(methods, async (method) => {
        const { http, error } = await probe.rpc(method, {}, { mayHang: true });
        return answerProblems(error?.code === -32601, `${method}, error.code`, '-32601', http);
      });
    },
  },
  {
    ...must('protocol.notification', 'C§4 (JSON-RPC 2.0 §4.1)'),
    title: 'a notification is accepted without a response',
    fix: 'Answer notifications with HTTP 202 and no body.',
    mustAnswer: 'in-time',
    check: async (probe) => {
      const session = await probe.session();
      const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
      const answer = await probe.post(notification, { session, mayHang: true });
      return problemUnless(answer.status >= 200 && answer.status < 300 && !answer.values.some(isObject), {
        path: 'notifications/initialized',
        expected: 'HTTP 202 without a response',
        actual: describe(answer),
      });
    },
  },
  {
    ...should('protocol.ill-formed', 'C§4 (JSON-RPC 2.0 §4)'),
    title: 'a message that is not a JSON-RPC 2.0 request is refused',
    fix: 'Answer HTTP 400 with the JSON-RPC error -32600 (invalid request). Valid calls do not depend on it: it shows the author of a faulty client the defect.',
    controls: [lists],
    check: async (probe) => {
      const session = await probe.session();
      const request = rpcRequest(nextId(), 'tools/list');
      const messages: readonly JsonObject[] = [
        { ...request, jsonrpc: '1.0' },
        { id: 1, method: 'tools/list' },
        { ...request, id: { in: 'an object' } },
        { ...request, id: true },
        { ...request, method: ['tools/list'] },
        { ...request, params: 'cursor' },
        { jsonrpc: '2.0', id: 1 },
      ];
      return problemsInParallel(messages, async (message) => {
        const answer = await probe.post(message, { session });
        const isRefused = answer.status < 500 && !holdsResult(answer);
        return answerProblems(isRefused, shorten(message), 'HTTP 4xx, or a JSON-RPC error', answer);
      });
    },
  },
  {
    ...should('protocol.ping', 'MCP 2025-06-18, ping'),
    title: 'ping is answered',
    fix: 'Answer ping with an empty result.',
    mustAnswer: true,
    controls: [lists],
    check: async (probe) => resultProblems(await probe.rpc('ping'), 'ping'),
  },
];

/** A list whose request has the id 0, as the first request of the SDK's client has. Sent once for a probe. */
function listWithIdZero(probe: Probe, session: string | undefined): Promise<HttpAnswer> {
  return probe.once('id 0', () => probe.post(rpcRequest(0, 'tools/list'), { session }));
}

/** The problem of an initialize that is answered with none of these versions. */
function versionProblems({ http, result }: RpcAnswer, versions: readonly string[]): readonly Problem[] {
  return problemsAt(
    versions.some((version) => result?.protocolVersion === version),
    'initialize result.protocolVersion',
    versions.length === 1 ? shorten(versions[0]) : `one of ${versions.join(', ')}`,
    result ? shorten(result.protocolVersion) : describe(http),
  );
}
