import { vi } from 'vitest';
import { run } from '../runtime/built.ts';
import { audience, issuer, publicKey, RawClient } from '../runtime/support.ts';

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

interface Line {
  readonly event: string;
  readonly shared?: boolean;
  readonly port: number;
}

/** A replica of a project, once it listens. */
export async function replica(directory: string, env: Environment) {
  const { child, output, exit } = run(directory, 'dist/src/main.js', { ...common, ...env }, [
    '--max-old-space-size=128',
  ]);
  const lines = (): readonly Line[] =>
    output.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const listening = () => lines().find(({ event }) => event === 'listening');
  await vi.waitUntil(listening, { timeout: 120_000 });
  const port = listening()?.port ?? 0;
  return {
    port,
    client: new RawClient(`http://127.0.0.1:${port}/mcp`),
    output,
    signal: (name: 'SIGTERM' | 'SIGKILL') => void child.kill(name),
    /** Resolves when it has ended and its log is read. */
    exit,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    /** What the log says of the store, in order. */
    states: () => lines().flatMap(({ event, shared }) => (event === 'state' ? [shared] : [])),
  };
}

export type Replica = Awaited<ReturnType<typeof replica>>;

/** Calls a tool in a new session. */
export async function call({ client }: Pick<Replica, 'client'>, bearer: string, name: string, args: object) {
  const session = await client.session();
  const headers = { ...session, authorization: `Bearer ${bearer}` };
  return client.request('tools/call', { name, arguments: args }, headers);
}
