import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Signer } from '../../src/contract/signer.ts';
import { requestText } from '../attacks/attacker.ts';
import type { Random } from '../random.ts';
import { forgeries, unpaidRequest } from './requests.ts';

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
  const unpaid = await forgeries(target.signer);
  const work = async () => {
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
        if (!answer.includes('"structuredContent":{"runs":'))
          throw new Error(`A paid call got ${answer.slice(0, 500)}`);
      }
      const request = unpaidRequest(random, { unpaid, session });
      const at = random() < 0.1 ? Math.floor(random() * request.length) : request.length;
      const answer = await exchange(target.port, [request.subarray(0, at), request.subarray(at)], false);
      const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 'none';
      findings.statuses.set(status, (findings.statuses.get(status) ?? 0) + 1);
      if (/HTTP\/1\.1 5/.test(answer) && findings.failures.length < keptFailures) {
        findings.failures.push(request.toString('base64'));
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return findings;
}

function rpc(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

async function openSession(port: number): Promise<string> {
  const params = {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'fuzz', version: '1' },
  };
  const answer = await exchange(
    port,
    [Buffer.from(requestText('POST', {}, rpc('initialize', params)))],
    true,
  );
  return /mcp-session-id: (\S+)/i.exec(answer)?.[1] ?? '';
}

/**
 * Sends bytes on a new connection and reads the answer: to the end of its body, or for an incomplete request until nothing
 * has arrived for a moment.
 */
async function exchange(port: number, parts: readonly Buffer[], isWhole: boolean): Promise<string> {
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
  for (const part of parts) {
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
