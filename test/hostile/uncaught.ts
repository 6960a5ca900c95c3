import { setTimeout } from 'node:timers/promises';

const kinds = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * The errors that would have ended this process while `act` ran, and until the last of its connections was closed: a
 * connection may emit an error when nobody waits for it any more.
 */
export async function uncaughtDuring(act: () => Promise<void>): Promise<readonly unknown[]> {
  const uncaught: unknown[] = [];
  const keep = (error: unknown) => uncaught.push(error);
  for (const kind of kinds) process.on(kind, keep);
  const before = openSockets();
  try {
    await act();
    while (openSockets() > before) await setTimeout(5);
    return uncaught;
  } finally {
    for (const kind of kinds) process.off(kind, keep);
  }
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
}
