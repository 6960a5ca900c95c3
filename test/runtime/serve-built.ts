import { vi } from 'vitest';
import { run } from './built.ts';
import { RawClient } from './support.ts';

/** Starts the server of a built project, and waits until its log says where it listens. */
export async function serveBuilt(
  directory: string,
  env: Record<string, string>,
  args: readonly string[] = [],
) {
  const server = run(directory, 'dist/src/main.js', env, args);
  /** The whole lines of its log. */
  const events = () =>
    server.output.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const find = () => events().find(({ event }) => event === 'listening');
  const listening = await vi.waitUntil(find, { timeout: 120_000 });
  return { ...server, events, listening, client: new RawClient(`http://127.0.0.1:${listening.port}/mcp`) };
}
