import { setTimeout } from 'node:timers/promises';
import { shorten } from '../json/json.ts';
import type { Json } from '../json/value.ts';
import type { Problem } from '../model.ts';
import type { Instance, ProcessExit } from '../target.ts';
import type { Control } from '../wire/controls.ts';
import type { HttpAnswer } from '../wire/http.ts';
import type { Probe } from '../wire/probe.ts';
import type { PostOptions } from '../wire/requests.ts';
import { sessionOf } from '../wire/rpc.ts';
import { answerProblems } from './answer-problems.ts';

const publicUrl = 'https://tools.example.com/mcp';

/** Variables with which a server runs in production. */
export const production = { NODE_ENV: 'production', PLATFORM_AUDIENCE: publicUrl } as const;

/** Variables from which the runtime takes the domain of the host if PLATFORM_AUDIENCE is not set. */
export const hostDomains = [
  'RENDER_EXTERNAL_URL',
  'FLY_APP_NAME',
  'VERCEL_PROJECT_PRODUCTION_URL',
  'RAILWAY_PUBLIC_DOMAIN',
] as const;

/** A second instance of the target: that in production, or if it does not start, one with the settings of the target. */
export function secondInstance(probe: Probe): Promise<Instance> {
  return probe.once('second instance', async () => {
    const instance = await productionInstance(probe);
    return instance.healthy ? instance : probe.launch({});
  });
}

/** A rule about a start with special settings is run only if an instance starts with ordinary ones. */
export const startsInstances: Control = async (probe) =>
  (await secondInstance(probe)).healthy ? undefined : 'instance';

/** An instance with NODE_ENV=production. Rules share it, and one of them ends it. */
export function productionInstance(probe: Probe): Promise<Instance> {
  return probe.once('production instance', () => probe.launch(production));
}

/** What the second instance answers to GET /ready. */
export function readyAnswer(probe: Probe): Promise<HttpAnswer> {
  return probe.once('ready', async () => {
    const { url } = await secondInstance(probe);
    return probe.http({ path: '/ready', url: new URL(url) });
  });
}

/**
 * Errors in the authentication of the instance in production: a token for the address at which it listens must be
 * refused, a token for its public URL accepted.
 */
export function audienceProblems(probe: Probe): Promise<readonly Problem[]> {
  return probe.once('audience in production', async () => {
    const instance = await productionInstance(probe);
    if (!instance.healthy) {
      return [
        { path: 'NODE_ENV=production', expected: 'a server that starts', actual: lastOutput(instance) },
      ];
    }
    const answerTo = async (aud: string): Promise<HttpAnswer> =>
      callOf(probe, instance, await probe.token({ claims: { aud } }));
    const [publicAnswer, unfitting] = [await answerTo(publicUrl), await answerTo(instance.url)];
    return [
      ...answerProblems(publicAnswer.status === 200, `token for ${publicUrl}`, 'HTTP 200', publicAnswer),
      ...answerProblems(unfitting.status !== 200, `token for ${instance.url}`, 'a refusal', unfitting),
    ];
  });
}

/** A tools/call to another instance, in a new session. */
export async function callOf(
  probe: Probe,
  instance: Instance,
  token: string,
  options: PostOptions = {},
): Promise<HttpAnswer> {
  const call = await probe.authenticationCall();
  return (await callerOf(probe, instance))(call, { ...options, token });
}

/** Opens a session at another instance. @returns what makes a tools/call in it */
export async function callerOf(
  probe: Probe,
  { url: address }: Instance,
): Promise<(call: Json, options: PostOptions) => Promise<HttpAnswer>> {
  const url = new URL(address);
  const session = sessionOf((await probe.initialize(undefined, { url })).http);
  return async (call, options) =>
    (await probe.rpcOnce('tools/call', call, { ...options, url, session })).http;
}

/** How an instance ends. One that does not end in time is killed, and the result shows it. */
export async function waitForExit(instance: Instance, timeoutMs: number): Promise<ProcessExit> {
  const exit = await Promise.race([instance.exit, setTimeout(timeoutMs, undefined, { ref: false })]);
  if (!exit) await instance.stop();
  return instance.exit;
}

/** The last output of an instance, for `Problem.actual`. */
export function lastOutput(instance: Instance): string {
  return shorten(instance.output().trim().split('\n').slice(-3).join(' | ') || 'nothing', 300);
}
