import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { liveRules } from '../../packages/contract/src/catalogue.ts';
import type { CheckedRule } from '../../packages/contract/src/check/model.ts';
import type { Problem, RuleResult } from '../../packages/contract/src/model.ts';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';

/** The bytes of a request and of what came back on its connection. */
export interface Exchange {
  readonly request: string;
  readonly answer: string;
}

/** A failed rule and the exchange that shows the failure; without one if no single exchange does. */
export interface Shown {
  readonly rule: string;
  readonly problem: Problem;
  readonly exchange?: Exchange;
}

/** Rules whose requests end some servers: each gets a new instance. */
export const isDangerous = (id: string): boolean =>
  liveRules.some((rule) => rule.id === id && rule.turn === 'last') || id === fatal;
const fatal = 'endpoint.stays-up';

/** Runs one failed rule alone and finds the exchange that shows its first problem. */
export async function show(url: string, { id, problems }: CheckedRule, timeoutMs: number): Promise<Shown> {
  const rules: RuleResult[] = [];
  // What ends a process is found by the requests that did.
  const selected = id === fatal ? [id, 'session.prototype', 'session.prototype-get'] : [id];
  const exchanges = await recorded(Number(new URL(url).port), async () => {
    const target = { url, profile: generic, timeoutMs, calls: { named: ['*'] } };
    const options = { selects: (rule: { readonly id: string }) => selected.includes(rule.id) };
    const report = await runContract(target, options).catch(() => undefined);
    rules.push(...(report?.rules ?? []));
  });
  const [own] = rules.find((rule) => rule.id === id)?.problems ?? [];
  const problem = own ?? (problems[0] as Problem);
  const exchange =
    id === fatal ? exchanges.findLast(({ answer }) => answer === '') : chosen(id, problem, exchanges);
  return { rule: id, problem, ...(exchange && { exchange }) };
}

type Written = string | Uint8Array | { readonly chunk: string | Uint8Array };

/** The inner methods of a socket, through which all bytes go, whoever writes or reads them. */
interface Watched extends Socket {
  push(chunk: Buffer | null): boolean;
  _writeGeneric(isMany: boolean, data: unknown, ...rest: readonly unknown[]): void;
}

function textOf(written: Written): string {
  if (typeof written === 'string') return written;
  return written instanceof Uint8Array ? Buffer.from(written).toString('latin1') : textOf(written.chunk);
}

/** The HTTP exchanges of this process with a port during some work, in the order of the requests. */
async function recorded(port: number, work: () => Promise<void>): Promise<readonly Exchange[]> {
  const exchanges: { request: string; answer: string; readonly peer: { port?: number | undefined } }[] = [];
  const watch = (message: unknown): void => {
    const { socket } = message as { socket: Watched };
    let current: (typeof exchanges)[number] | undefined;
    const peer: { port?: number | undefined } = {};
    socket.once('connect', () => {
      peer.port = socket.remotePort;
    });
    const { _writeGeneric, push } = socket;
    socket._writeGeneric = (isMany, data, ...rest) => {
      // Before the connection is open, it calls itself again.
      if (!socket.connecting) {
        if (current?.answer !== '') {
          current = { request: '', answer: '', peer };
          exchanges.push(current);
        }
        for (const part of isMany ? (data as readonly Written[]) : [data as Written])
          current.request += textOf(part);
      }
      return _writeGeneric.call(socket, isMany, data, ...rest);
    };
    socket.push = (chunk) => {
      if (chunk && current) current.answer += chunk.toString('latin1');
      return push.call(socket, chunk);
    };
  };
  subscribe('net.client.socket', watch);
  try {
    await work();
  } finally {
    unsubscribe('net.client.socket', watch);
  }
  const isHttp = /^[A-Z]+ \S+ HTTP\/1\.1\r\n/;
  return exchanges.filter(({ request, peer }) => peer.port === port && isHttp.test(request)).map(inUtf8);
}

function inUtf8({ request, answer }: Exchange): Exchange {
  const decoded = (text: string) => Buffer.from(text, 'latin1').toString('utf8');
  return { request: decoded(request), answer: decoded(answer) };
}

const isHealth = ({ request }: Exchange): boolean => request.startsWith('GET /health');

/** The exchange whose answer is the one that a problem names; of several, the last. */
function chosen(
  id: string,
  { tool, path = '', actual }: Problem,
  all: readonly Exchange[],
): Exchange | undefined {
  const isAboutHealth = id.startsWith('health.') || id.startsWith('identity.');
  const candidates = all.filter((one) => isHealth(one) === isAboutHealth || id.startsWith('identity.'));
  if (!liveRules.some((rule) => rule.id === id))
    return candidates.find(({ request }) => request.includes('"method":"tools/list"'));
  const [, status] = /^HTTP (\d+)/.exec(actual) ?? [];
  const text = actual.replace(/^(HTTP \d+|isError: true,) ?/, '').slice(0, 40);
  const words =
    path.match(/initialize|(?:tools|prompts|resources)\/\w+|DELETE|GET|POST|(?<=")[^"]+(?=")/g) ?? [];
  const isSilence = actual.startsWith('no complete answer');
  const scoreOf = ({ request, answer }: Exchange): number => {
    const isSame = answer.replaceAll(/\s+/g, ' ').replaceAll('\\"', '"').includes(text.replace(/…$/, ''));
    const isIncomplete =
      answer === '' || (/^transfer-encoding: chunked/im.test(answer) && !/\r\n0\r\n\r\n$/.test(answer));
    return (
      (isSilence && isIncomplete ? 8 : 0) +
      (text !== '' && isSame ? 4 : 0) +
      (status !== undefined && answer.startsWith(`HTTP/1.1 ${status}`) ? 2 : 0) +
      words.filter((word) => request.includes(word)).length +
      (tool !== undefined && request.includes(`"name":${JSON.stringify(tool)}`) ? 2 : 0)
    );
  };
  const best = Math.max(...candidates.map(scoreOf));
  return candidates.findLast((one) => scoreOf(one) === best);
}
