import type { Static } from 'typebox';
import type { JsonObject, ToolExample } from '../../contract/model.ts';

export { signals } from '../../contract/outcomes.ts';
export { callTool } from './call.ts';

/** What a tool's schemas have in common: an object at the root, `properties` and `required` (C§2.1). */
export interface ObjectSchema extends JsonObject {
  readonly type: 'object';
  readonly properties: { readonly [name: string]: JsonObject };
  readonly required: readonly string[];
}

/** How a call ended, as `found`, `empty` and `fail` return it. */
export type Outcome =
  | { readonly kind: 'found'; readonly data: object }
  | { readonly kind: 'empty'; readonly reason: string }
  | { readonly kind: 'fail'; readonly code: string; readonly message: string; readonly hints?: JsonObject };

/** The three ways to end a call, each an answer that fits the tool's outputSchema. */
export interface Outcomes<Data> {
  /** Here is the answer. */
  found(data: Data): Outcome;
  /** The search is complete and there is nothing to return: callers stop asking (C§2.2). */
  empty(reason: string): Outcome;
  /**
   * The call failed (C§2.2, "Recommended failure payload").
   *
   * @param code constant for programs, `UPSTREAM_DOWN`
   * @param message what went wrong and what the caller can do
   * @param hints further members, such as valid values; those that the outputSchema does not admit are left out
   */
  fail(code: string, message: string, hints?: JsonObject): Outcome;
  /** Aborted when the deadline of the call has passed or the caller is gone: hand it to `fetch`. */
  readonly signal: AbortSignal;
}

/** What `run` receives: the arguments after validation, where a parameter with a default is always present. */
export type Input<Schema extends ObjectSchema> = Static<Schema> & {
  [Name in Defaulted<Schema> & keyof Static<Schema>]-?: Exclude<Static<Schema>[Name], undefined>;
};

type Defaulted<Schema extends ObjectSchema> = {
  [Name in keyof Schema['properties']]: Schema['properties'][Name] extends { readonly default: unknown }
    ? Name
    : never;
}[keyof Schema['properties']];

/** The data that `found` takes. */
export type Output<Schema extends ObjectSchema> = Static<Schema>;

/** A tool as lists hold it: its `run` takes arguments that were validated against `inputSchema`. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly _meta?: JsonObject;
  readonly examples: readonly ToolExample[];
  run(input: object, outcomes: Outcomes<object>): Outcome | Promise<Outcome>;
}

/** A tool as an author writes it: the types of `run` follow from the two schemas. */
export interface TypedTool<I extends ObjectSchema, O extends ObjectSchema> extends Omit<Tool, 'run'> {
  /** Identifies the tool in `tools/call`. */
  readonly name: string;
  /** What the tool returns and when to use it: agents choose by this text. */
  readonly description: string;
  readonly inputSchema: I;
  readonly outputSchema: O;
  /** Calls with a known outcome; the self-check makes every one of them. */
  readonly examples: readonly ToolExample[];
  run(input: Input<I>, outcomes: Outcomes<Static<O>>): Outcome | Promise<Outcome>;
}

/** Defines a tool. The schemas are plain JSON Schema; they are sent to callers as they stand. */
export function defineTool<const I extends ObjectSchema, const O extends ObjectSchema>(
  tool: TypedTool<I, O>,
): Tool {
  return tool as TypedTool<ObjectSchema, ObjectSchema> as Tool;
}
