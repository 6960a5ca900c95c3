import { bounds } from '../contract/walk.ts';

/** Limits far above real tool lists; they make hostile ones harmless. */
export const limits = {
  characters: 5_000_000,
  yamlCharacters: 500_000,
  depth: 64,
  values: 500_000,
  aliases: 100,
  tools: bounds.tools,
};
