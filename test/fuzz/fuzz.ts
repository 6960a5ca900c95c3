import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Signer } from '../../packages/contract/src/wire/signer.ts';
import { requestText } from '../attacks/attacker.ts';
import type { Random } from '../random.ts';
import { RawClient } from '../runtime/support.ts';
import { forgeries, strangeRequest } from './requests.ts';

/** A server whose tool `count` counts its executions. */
export interface Target {
  readonly port: number;
  readonly signer: Signer;
}

/** The results of a run. */
export interface Findings {
  unpaid: number;
  /** The number of paid calls, each of which must have run once. */
  paid: number;
  /** Status of the first answer to a request, or `none` → count. */
  readonly statuses: Map<string, number>;
  /** Requests that were answered with 5xx, as Base64. */
  readonly failures: string[];
}

/** The results of a run with changed paid calls. */
export interface ChangedFindings extends Pick<Findings, 'statuses' | 'failures'> {
  sent: number;
  /** The number of answers with the tool's result. */
  answered: number;
}

const connections = 8;
const callEvery = 25;
const answerMs = 50;
const keptFailures = 5;

/**
 * Sends unpaid requests, and a paid call after every 25 of them, until `goOn` returns false.
 *
 * @param goOn called before each request
 */
export async function fuzz(
  target: Target,
  random: Random,
  goOn: (sent: number) => boolean,
): Promise<Findings> {
  const findings: Findings = { unpaid: 0, paid: 0, statuses: new Map(), failures: [] };
  const tokens = await forgeries(target.signer);
  await inParallel(async () => {
    // A request may end the session.
    let session = await openSession(target.port);
    let own = 0;
    while (goOn(findings.unpaid)) {
      findings.unpaid++;
      if (own++ % callEvery === 0) {
        findings.paid++;
        session = await openSession(target.port);
        const headers = {
          'Mcp-Session-Id': session,
          Authorization: `Bearer ${await target.signer.token()}`,
        };
        const call = rpc('tools/call', { name: 'count', arguments: { note: 'paid' } });
        const answer = await exchange(target.port, [Buffer.from(requestText('POST', headers, call))], true);
        if (!isResult(answer)) throw new Error(`A paid call got ${answer.slice(0, 500)}`);
      }
      await send(
        target,
        random,
        strangeRequest(random, { tokens, session, note: 'unpaid', plain: 0 }),
        findings,
      );
    }
  });
  return findings;
}

/**
 * Sends changed paid calls until `goOn` returns false: each runs the tool once or not at all.
 *
 * @param goOn called before each request
 */
export async function fuzzPaid(
  target: Target,
  random: Random,
  goOn: (sent: number) => boolean,
): Promise<ChangedFindings> {
  const findings: ChangedFindings = { sent: 0, answered: 0, statuses: new Map(), failures: [] };
  await inParallel(async () => {
    let session = '';
    let tokens: string[] = [];
    for (let own = 0; goOn(findings.sent); own++) {
      if (own % 5 === 0) {
        session = await openSession(target.port);
        tokens = [`Bearer ${await target.signer.token()}`];
      }
      findings.sent++;
      const request = strangeRequest(random, { tokens, session, note: 'changed', plain: 0.7 });
      if (isResult(await send(target, random, request, findings))) findings.answered++;
    }
  });
  return findings;
}

async function inParallel(work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: connections }, work));
}

const isResult = (answer: string) => /"structuredContent":\{"runs":\d/.test(answer);

/** Sends a request, in one of ten cases in two parts and in one of ten with its last byte held back, and notes its status. */
async function send(
  { port }: Target,
  random: Random,
  request: Buffer,
  { statuses, failures }: Pick<Findings, 'statuses' | 'failures'>,
): Promise<string> {
  const chance = random();
  const split = chance < 0.1 ? Math.floor(random() * request.length) : request.length;
  const at = chance > 0.9 ? request.length - 1 : split;
  const answer = await exchange(port, [request.subarray(0, at), request.subarray(at)], false, chance > 0.9);
  const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 'none';
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  if (/HTTP\/1\.1 5/.test(answer) && failures.length < keptFailures)
    failures.push(request.toString('base64'));
  return answer;
}

function rpc(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

async function openSession(port: number): Promise<string> {
  return (await new RawClient(`http://127.0.0.1:${port}/mcp`).session())['mcp-session-id'];
}

/**
 * Sends bytes on a new connection and reads the answer: to the end of its body, or for an incomplete request until nothing
 * has arrived for a moment.
 *
 * @param holdsBack sends the last part a moment after the others
 */
async function exchange(
  port: number,
  parts: readonly Buffer[],
  isWhole: boolean,
  holdsBack = false,
): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let text = '';
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (isComplete(text)) resolve();
    });
  });
  for (const [index, part] of parts.entries()) {
    if (holdsBack && index === parts.length - 1) await delay(answerMs);
    if (part.length > 0) socket.write(part);
    if (parts.length > 1) await new Promise(setImmediate);
  }
  const ends = [answered, closed];
  await Promise.race(isWhole ? ends : [...ends, delay(answerMs)]);
  socket.destroy();
  return text;
}

function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /content-length: (\d+)/i.exec(text.slice(0, end))?.[1];
  return length === undefined
    ? /^HTTP\/1\.1 (?:204|202)/.test(text)
    : text.length >= end + 4 + Number(length);
}
