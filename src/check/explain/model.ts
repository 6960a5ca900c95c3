import type { JsonObject } from '../../contract/model.ts';

/** What is shown of a rule besides what the rule says of itself. */
export interface Explanation {
  /** Why the marketplace and its callers care. */
  readonly why: string;
  readonly failing: Example;
  readonly passing: Example;
}

/**
 * A text, such as an exchange over HTTP; or the parts of a tool definition that matter, laid over a definition that passes
 * every rule. Several of them are several tools.
 */
export type Example = string | readonly JsonObject[];

/** Explanations by the id of the rule. */
export type Explanations = Readonly<Record<string, Explanation>>;

/** A request and what comes back: the way it must not be, and the way it should. */
export function exchange(why: string, request: string, bad: string, good: string): Explanation {
  return { why, failing: `${request}\n→ ${bad}`, passing: `${request}\n→ ${good}` };
}

/** Two texts that say it best side by side. */
export function contrast(why: string, failing: string, passing: string): Explanation {
  return { why, failing, passing };
}

/** One tool, seen twice. */
export function definition(why: string, failing: JsonObject, passing: JsonObject): Explanation {
  return { why, failing: [failing], passing: [passing] };
}

/** One parameter of a tool, seen twice. */
export function parameter(why: string, failing: JsonObject, passing: JsonObject): Explanation {
  return definition(why, withParameter(failing), withParameter(passing));
}

/** One output field of a tool, seen twice. */
export function field(why: string, failing: JsonObject, passing: JsonObject): Explanation {
  return definition(why, withField(failing), withField(passing));
}

function withParameter(symbol: JsonObject): JsonObject {
  return { inputSchema: { type: 'object', properties: { symbol }, required: ['symbol'] } };
}

function withField(price: JsonObject): JsonObject {
  return { outputSchema: { type: 'object', properties: { price }, required: [] } };
}
