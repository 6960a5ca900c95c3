import { serveBuilt } from '../runtime/serve-built.ts';
import { audience, issuer, publicKey } from '../runtime/support.ts';

export const secret = 'a secret of thirty-two characters';

export type Environment = Record<string, string>;

const common: Environment = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PORT: '0',
  PLATFORM_AUDIENCE: audience,
  PLATFORM_ISSUER: issuer,
  PLATFORM_PUBLIC_KEY: publicKey,
  SESSION_SECRET: secret,
  // A busy machine is no reason to refuse a call.
  MAX_LOOP_DELAY_MS: '600000',
  API_URL: 'http://127.0.0.1:9',
};

/** A replica of a project, once it listens. */
export async function replica(directory: string, env: Environment) {
  const args = ['--max-old-space-size=128'];
  const { child, output, exit, events, listening, client } = await serveBuilt(
    directory,
    { ...common, ...env },
    args,
  );
  return {
    port: Number(listening.port),
    client,
    output,
    events,
    /** The address of its metrics, with METRICS_PORT. */
    metrics: String(listening.metrics),
    signal: (name: 'SIGTERM' | 'SIGKILL') => void child.kill(name),
    /** Resolves when it has ended and its log is read. */
    exit,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    /** What the log says of the store, in order. */
    states: () =>
      events().flatMap(({ event, shared }): readonly boolean[] => (event === 'state' ? [shared] : [])),
  };
}

export type Replica = Awaited<ReturnType<typeof replica>>;

/** Calls a tool in a new session. */
export async function call({ client }: Pick<Replica, 'client'>, bearer: string, name: string, args: object) {
  const session = await client.session();
  const headers = { ...session, authorization: `Bearer ${bearer}` };
  return client.request('tools/call', { name, arguments: args }, headers);
}
