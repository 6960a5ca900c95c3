// The definition of a tool and its types, for authors.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json;
}

/** A schema of a tool: an object at the root with `properties` and `required` (C§2.1). */
export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: { readonly [name: string]: object };
  readonly required: readonly string[];
}

/**
 * Optional output properties. With them an outputSchema admits all three outcomes of a call: data, an explicit empty
 * result (C§2.2) and a failure (C§2.2, "Recommended failure payload").
 */
export const signals = {
  searchExhausted: {
    type: 'boolean',
    description: 'True if the search is complete and found nothing. The empty result is then the answer.',
  },
  noResultsReason: { type: 'string', description: 'Why nothing was found.' },
  error: { type: 'string', description: 'Code of the failure; present only when the call failed.' },
  message: { type: 'string', description: 'What went wrong; present only when the call failed.' },
} as const;

/** What `found`, `empty` and `fail` return. */
export type Outcome =
  | { readonly kind: 'found'; readonly data: object }
  | { readonly kind: 'empty'; readonly reason: string }
  | {
      readonly kind: 'fail';
      readonly code: string;
      readonly message: string;
      readonly hints?: JsonObject;
      readonly cause?: unknown;
    };

/** The three ways to end a call, whose answers match the outputSchema, and the signal that ends it early. */
export interface Outcomes<Data> {
  /** The call returns data. */
  found(data: Data): Outcome;
  /** The search is complete and found nothing, so callers need not retry (C§2.2). */
  empty(reason: string): Outcome;
  /**
   * The call failed (C§2.2, "Recommended failure payload").
   *
   * @param code constant for programs, such as `UPSTREAM_DOWN`
   * @param message what went wrong and what the caller can do
   * @param hints further members, such as valid values; members that the outputSchema does not admit are dropped
   * @param cause the error behind the failure: the log has it, the caller never gets it
   */
  fail(code: string, message: string, hints?: JsonObject, cause?: unknown): Outcome;
  /** Aborts when the deadline passes or the caller disconnects. Pass it to `fetch`. Reading it creates it, which takes a fifth of a small call. */
  readonly signal: AbortSignal;
}

/** A call with its expected outcome. The self-check makes every one of these calls. */
export interface ToolExample {
  readonly arguments: JsonObject;
  /** `found`: data. `empty`: an explicit empty result (C§2.2). `fail`: `isError` with `error` and `message`. */
  readonly expect: 'found' | 'empty' | 'fail';
}

/** The entry of a tool in `tools/list` (C§2.1). */
export interface ToolDefinition {
  /** Identifies the tool in `tools/call`. */
  readonly name: string;
  /** Display name. */
  readonly title?: string;
  /** What the tool returns and when to use it. Agents choose a tool by this text. */
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  /** Hints for clients that ask their user before a call. */
  readonly annotations?: {
    readonly title?: string;
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint?: boolean;
  };
  readonly icons?: readonly {
    readonly src: string;
    readonly mimeType?: string;
    readonly sizes?: readonly string[];
    readonly theme?: 'light' | 'dark';
  }[];
  readonly _meta?: JsonObject;
}

/** A tool without the types of its schemas. `run` receives validated arguments. */
export interface Tool extends ToolDefinition {
  readonly examples: readonly ToolExample[];
  run(input: object, outcomes: Outcomes<object>): Outcome | Promise<Outcome>;
}

/** A tool with the types of `run` inferred from its schemas. */
export interface TypedTool<I extends ObjectSchema, O extends ObjectSchema> extends Omit<Tool, 'run'> {
  readonly inputSchema: I;
  readonly outputSchema: O;
  run(input: Input<I>, outcomes: Outcomes<Data<O>>): Outcome | Promise<Outcome>;
}

/** Defines a tool. Callers receive its schemas, which are plain JSON Schema, unchanged. */
export function defineTool<const I extends ObjectSchema, const O extends ObjectSchema>(
  tool: TypedTool<I, O>,
): Tool {
  return tool as unknown as Tool;
}

/** The arguments of `run` after validation. A parameter with a default is always present. */
export type Input<S extends ObjectSchema> = Members<S, RequiredName<S> | DefaultedName<S['properties']>>;

/** The argument of `found`. */
export type Data<S extends ObjectSchema> = Members<S, RequiredName<S>>;

/** The type of a schema's values; `unknown` if it cannot be inferred (`allOf`, `$ref`). */
type Value<S> = S extends { readonly enum: readonly (infer Allowed)[] } | { readonly const: infer Allowed }
  ? Allowed
  : S extends { readonly type: infer Type }
    ? OfType<S, Type extends readonly (infer One)[] ? One : Type> | Nullable<S>
    : S extends With<'allOf' | '$ref' | 'properties'>
      ? unknown
      : S extends
            | { readonly anyOf: readonly (infer Branch)[] }
            | { readonly oneOf: readonly (infer Branch)[] }
        ? Value<Branch>
        : unknown;

type Nullable<S> = S extends { readonly nullable: true } ? null : never;

type OfType<S, Type> = Type extends keyof Scalars
  ? Scalars[Type]
  : Type extends 'array'
    ? ItemsOf<S>[]
    : Type extends 'object'
      ? Members<S, RequiredName<S>>
      : unknown;

interface Scalars {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

type ItemsOf<S> = S extends { readonly items: infer Items } ? Value<Items> : unknown;

/** The object type of a schema. The members named in `Present` are not optional. */
type Members<S, Present> = S extends { readonly properties: infer Properties }
  ? S extends Composed | { readonly additionalProperties: true | object }
    ? Declared<Properties, Present> & { [name: string]: unknown }
    : Declared<Properties, Present>
  : S extends Composed
    ? { [name: string]: unknown }
    : {
        [name: string]: S extends { readonly additionalProperties: infer Further } ? Value<Further> : unknown;
      };

/** Schemas with keywords that may admit members outside `properties`. */
type Composed = With<'allOf' | 'anyOf' | 'oneOf' | '$ref' | 'if' | 'patternProperties'>;
type With<Keyword extends string> = Keyword extends string ? { readonly [Name in Keyword]: unknown } : never;

type Declared<Properties, Present> = {
  -readonly [Name in keyof Properties & Present]: Value<Properties[Name]>;
} & {
  -readonly [Name in Exclude<keyof Properties, Present>]?: Value<Properties[Name]>;
} extends infer Both
  ? { [Name in keyof Both]: Both[Name] }
  : never;

type RequiredName<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

/** Names of the properties with a default. */
type DefaultedName<Properties> = {
  [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Properties];
