import { bounds } from './walk.ts';

/** Limits of a document of somebody else. */
export interface DocumentLimits {
  readonly characters: number;
  readonly yamlCharacters: number;
  readonly depth: number;
  /** After the aliases of YAML are replaced. */
  readonly values: number;
  readonly aliases: number;
}

/** Limits far above real tool lists; they make hostile ones harmless. */
export const limits = {
  characters: 5_000_000,
  yamlCharacters: 500_000,
  depth: 64,
  values: 500_000,
  aliases: 100,
  tools: bounds.tools,
} satisfies DocumentLimits & { readonly tools: number };

/** Of an OpenAPI document; the largest public ones have a third of it. */
export const openApiLimits: DocumentLimits = {
  characters: 100_000_000,
  yamlCharacters: 30_000_000,
  depth: 100,
  values: limits.values,
  aliases: 10_000,
};
