import { onInterrupted } from 'market-mcp-contract/command';
import type { Asker } from './prompts/asker.ts';

/** Asks a person at the terminal, which a signal restores. @throws Cancelled */
export async function askPerson<T>(ask: (asker: Asker) => Promise<T>): Promise<T> {
  const { Asker } = await import('./prompts/asker.ts');
  const asker = new Asker();
  onInterrupted(() => asker.restore());
  try {
    return await ask(asker);
  } finally {
    onInterrupted(undefined);
  }
}
