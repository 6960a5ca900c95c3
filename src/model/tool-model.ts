import type { Effect, ToolDefinition, ToolExample } from 'market-mcp-contract/definition';
import type { Json, JsonObject } from 'market-mcp-contract/json';

export const scalarTypes = ['string', 'number', 'integer', 'boolean'] as const;
export type ScalarType = (typeof scalarTypes)[number];
export type FieldType = ScalarType | 'object' | 'array';

/** The description of a value. `items` belongs to arrays, `fields` to objects. */
export interface Shape {
  readonly type: FieldType;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly Json[];
  readonly default?: Json;
  readonly examples?: readonly Json[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Shape;
  readonly fields?: readonly Field[];
}

/** A named value: an input parameter, an output field, or a member of a nested object. */
export interface Field extends Shape {
  readonly name: string;
  /** Absent means optional. */
  readonly required?: boolean;
}

/** An author's description of a tool. `definitionOf` turns it into the MCP definition. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly input: readonly Field[];
  readonly output: readonly Field[];
  /** `record`: the output fields are the result. `list`: the result contains `items`, each with the output fields. */
  readonly returns: 'record' | 'list';
  readonly examples?: readonly ToolExample[];
  /** Absent: derived from the name. */
  readonly title?: string;
  /** The effect of a call; absent: derived from the name. */
  readonly effect?: Effect;
  /** Hints that differ from those of the effect. */
  readonly annotations?: JsonObject;
  readonly icons?: readonly JsonObject[];
  readonly _meta?: JsonObject;
}

/** One entry of a spec file: our own ToolSpec, or a plain MCP tool definition of another server. */
export type SpecEntry = ToolSpec | JsonObject;

/** A change that was made to an author's definition so that it meets the contract. */
export interface DefinitionChange {
  readonly tool: string;
  /** `outputSchema.properties.price.type` */
  readonly path: string;
  /** `"number" became ["number","null"]` */
  readonly what: string;
  /** The reason, with its source. */
  readonly why: string;
  /** `sent`: it says that a request was sent, and changes nothing. */
  readonly kind?: 'sent';
}

/** One sample answer of a generated handler: complete structuredContent for one value of the key parameter. */
export interface Sample {
  /** Null: the answer if the key parameter is left out, or if the tool has none. */
  readonly key: string | number | boolean | null;
  readonly answer: JsonObject;
}

/** A tool that passes every static rule, with everything that its generated handler and tests need. */
export interface PreparedTool {
  readonly definition: ToolDefinition;
  /** Name of the input parameter that selects a sample; null if no parameter can. */
  readonly keyParameter: string | null;
  readonly samples: readonly Sample[];
  readonly examples: readonly ToolExample[];
}
