import { canAsk, onInterrupted } from 'market-mcp-contract/command';
import type { CreateSwitches } from '../questions/create.ts';
import type { Asker } from './prompts/asker.ts';

/** Switches that forbid questions. */
export type QuestionSwitches = Pick<CreateSwitches, 'yes' | 'json'>;

/** Returns whether a person can answer, and no switch forbids questions. */
export function mayAsk({ yes, json }: QuestionSwitches): boolean {
  return !yes && !json && canAsk();
}

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

/** @throws Cancelled if the person at the terminal does not agree. */
export async function requireConsent(question: string, enterMeans: 'yes' | 'no'): Promise<void> {
  const { Cancelled } = await import('./prompts/leaving.ts');
  const isYesSelected = enterMeans === 'yes';
  if (!(await askPerson((asker) => asker.confirm(question, isYesSelected)))) throw new Cancelled();
}
