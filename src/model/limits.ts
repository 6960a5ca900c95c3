import { bounds } from '../contract/walk.ts';

/** Limits that real tool lists stay far below and that keep hostile ones from hurting. */
export const limits = {
  characters: 5_000_000,
  yamlCharacters: 500_000,
  depth: 64,
  values: 500_000,
  aliases: 100,
  tools: bounds.tools,
};
