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
export type Input<Schema> = Members<Schema, Defaulted<Schema>>;

/** What `found` takes. */
export type Data<Schema> = Members<Schema, never>;

/**
 * The object that a schema describes; members that are required or named by `Present` are always there. Takes the root
 * apart by hand: `Static` of a whole schema that is still to be inferred costs the compiler most of a second.
 */
type Members<Schema, Present> = Schema extends {
  readonly properties: infer Properties extends { readonly [name: string]: JsonObject };
  readonly required: readonly (infer Required)[];
}
  ? Flat<
      {
        -readonly [Name in keyof Properties as Name extends Required | Present ? Name : never]: Static<
          Properties[Name]
        >;
      } & {
        -readonly [Name in keyof Properties as Name extends Required | Present ? never : Name]?: Static<
          Properties[Name]
        >;
      }
    > &
      Further<Schema>
  : never;

type Flat<T> = { [Name in keyof T]: T[Name] };

/** Names of the properties that have a default. */
type Defaulted<Schema> = Schema extends { readonly properties: infer Properties }
  ? {
      [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown } ? Name : never;
    }[keyof Properties]
  : never;

/** Members beyond the declared ones, where the schema speaks of them. */
type Further<Schema> = Schema extends { readonly additionalProperties: true | object }
  ? { [name: string]: unknown }
  : unknown;

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
  run(input: Input<I>, outcomes: Outcomes<Data<O>>): Outcome | Promise<Outcome>;
}

/** Defines a tool. The schemas are plain JSON Schema; they are sent to callers as they stand. */
export function defineTool<const I extends ObjectSchema, const O extends ObjectSchema>(
  tool: TypedTool<I, O>,
): Tool {
  return tool as unknown as Tool;
}
