import type { JsonObject } from '../json/value.ts';

/** What `explain` shows in addition to the texts of the rule. */
export interface Explanation {
  /** Why the rule matters to the marketplace and its callers. */
  readonly why: string;
  readonly failing: Example;
  readonly passing: Example;
}

/**
 * A text, such as an exchange over HTTP, or the relevant parts of a tool definition, merged into a definition that passes
 * every rule. Several parts are several tools.
 */
export type Example = string | readonly JsonObject[];

/** Explanations by the id of the rule. */
export type Explanations = Readonly<Record<string, Explanation>>;

/** Where a rule comes from, in words: `C§4.1` is a section of the contract, `app x.ts` a file of the marketplace. */
export function ruleOrigin(source: string): string {
  return source
    .replaceAll(
      /C§[\d.]+(?:, C§[\d.]+)*/g,
      (sections) => `the tool server contract, ${sections.replaceAll('C', '')}`,
    )
    .replace(/^app (?=[\w/-]+)/, "the marketplace's public source, ")
    .replace(/\bdocs (?=[\w/-]+\.mdx)/, "the marketplace's documentation, ");
}

/** An example of an explanation as text. */
export function exampleText(example: Example): string {
  if (typeof example === 'string') return example;
  return example.map((part) => JSON.stringify(part, null, 2)).join('\n');
}
