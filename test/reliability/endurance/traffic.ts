import { randomUUID } from 'node:crypto';
import type { Signer, TokenVariant } from '../../../packages/contract/src/wire/signer.ts';
import { type Random, randomFrom } from '../../random.ts';
import { Caller, type Tally, type World } from './caller.ts';
import { calls } from './calls.ts';
import { connections } from './connections.ts';
import type { Kind } from './kind.ts';
import { protocol } from './protocol.ts';
import { refusals } from './refusals.ts';

export const kinds: readonly Kind[] = [...calls, ...protocol, ...refusals, ...connections];

/** More tokens than the server caches, so that it verifies and evicts while it runs. */
const tokenCount = 1_500;
const sessionCount = 500;

/** The state of one server: tokens, forgeries and open sessions. */
export async function createWorld(port: number, signer: Signer, tally: Tally): Promise<World> {
  const hour = { exp: Math.floor(Date.now() / 1000) + 3_600 };
  const sign = (forgery: TokenVariant) =>
    signer.token({ ...forgery, claims: { ...hour, jti: randomUUID(), ...forgery.claims } });
  const tokens = await Promise.all(Array.from({ length: tokenCount }, () => sign({})));
  const refused = await Promise.all(forgeries.map(sign));
  const world: World = {
    port,
    signer,
    tokens,
    forgeries: [...refused, ...tokens.slice(0, 5).map(tampered)],
    sessions: [],
    tally,
  };
  const opener = new Caller(world, 'opener', randomFrom(0));
  for (let count = 0; count < sessionCount; count += 1) world.sessions.push(await opener.open());
  opener.drop();
  return world;
}

const past = 1_700_000_000;
const forgeries: readonly TokenVariant[] = [
  { by: 'untrusted' },
  { by: 'embedded' },
  { by: 'nobody' },
  { by: 'public-key' },
  { by: 'other-algorithm' },
  { claims: { exp: past } },
  { claims: { exp: undefined } },
  { claims: { nbf: past * 2 } },
  { claims: { iss: 'https://other.example' } },
  { claims: { iss: undefined } },
  { claims: { aud: 'https://tools.example/mcp/' } },
  { claims: { aud: undefined } },
];

/** A valid token with another payload and the same signature. */
function tampered(token: string): string {
  const [header, payload = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const other = Buffer.from(JSON.stringify({ ...claims, toolId: 'other' })).toString('base64url');
  return [header, other, signature].join('.');
}

/** An error and the kind of traffic in which it occurred. */
export interface Incident {
  readonly kind: string;
  readonly error: Error;
}

/** How often each kind ran, and the first errors. */
export interface Course {
  readonly runs: Map<string, number>;
  readonly incidents: Incident[];
}

const maxIncidents = 20;

/** Lets callers send random traffic concurrently until the given number of requests was sent. */
export async function sendTraffic(
  callers: readonly Caller[],
  requests: number,
  course: Course,
): Promise<void> {
  await Promise.all(callers.map((caller) => send(caller, requests, course)));
}

async function send(caller: Caller, requests: number, { runs, incidents }: Course): Promise<void> {
  while (caller.world.tally.requests < requests && incidents.length < maxIncidents) {
    const kind = drawKind(caller.random);
    runs.set(kind.name, (runs.get(kind.name) ?? 0) + 1);
    try {
      await kind.run(caller);
    } catch (error) {
      incidents.push({ kind: kind.name, error: error as Error });
      caller.drop();
    }
  }
}

/** Opens and ends the given number of sessions. */
export async function endSessions(callers: readonly Caller[], count: number): Promise<void> {
  const each = Math.ceil(count / callers.length);
  const work = async (caller: Caller) => {
    for (let done = 0; done < each; done += 1) await caller.close(await caller.open());
  };
  await Promise.all(callers.map(work));
}

const shares = kinds.reduce((sum, { share }) => sum + share, 0);

function drawKind(random: Random): Kind {
  let left = random() * shares;
  for (const kind of kinds) {
    left -= kind.share;
    if (left < 0) return kind;
  }
  throw new Error('there is no traffic to send');
}
