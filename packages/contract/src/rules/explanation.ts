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

/** A request with a wrong and a correct answer. */
export function exchange(why: string, request: string, bad: string, good: string): Explanation {
  return { why, failing: `${request}\n→ ${bad}`, passing: `${request}\n→ ${good}` };
}

/** Two texts to compare. */
export function contrast(why: string, failing: string, passing: string): Explanation {
  return { why, failing, passing };
}

/** One tool, wrong and correct. */
export function definition(why: string, failing: JsonObject, passing: JsonObject): Explanation {
  return { why, failing: [failing], passing: [passing] };
}

/** One parameter of a tool, wrong and correct. */
export function parameter(why: string, failing: JsonObject, passing: JsonObject): Explanation {
  const taken = (symbol: JsonObject) => taking({ symbol }, ['symbol']);
  return definition(why, taken(failing), taken(passing));
}

/** One output field of a tool, wrong and correct. */
export function field(why: string, failing: JsonObject, passing: JsonObject): Explanation {
  return definition(why, returning({ price: failing }, []), returning({ price: passing }, []));
}

/** The parts of a tool with these parameters. */
export function taking(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { inputSchema: { type: 'object', properties, required } };
}

/** The parts of a tool by which an agent chooses it. */
export function describedTool(name: string, description: string): JsonObject {
  return { name, description };
}

/** The parts of a tool with these fields in its answer. */
export function returning(properties: JsonObject, required?: readonly string[]): JsonObject {
  return { outputSchema: { type: 'object', properties, ...(required && { required }) } };
}

/** Where a rule comes from, in words: `C§4.1` is a section of the contract, `app x.ts` a file of the marketplace. */
export function originOf(source: string): string {
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
  return typeof example === 'string'
    ? example
    : example.map((part) => JSON.stringify(part, null, 2)).join('\n');
}
