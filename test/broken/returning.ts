import { objectOr } from '../../packages/contract/src/json/json.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import { resultOf } from './good-server.ts';
import type { Variant } from './variant.ts';

/** A field that the found data of a tool have in addition. */
export interface ReturnedField {
  readonly schema: JsonObject;
  readonly value: (data: JsonObject) => Json;
}

interface ReturningTool {
  readonly name?: 'get_price' | 'list_coins';
  readonly description?: string;
}

/** A server with a tool that returns and declares further fields, and may be described otherwise. */
export function returning(
  fields: Readonly<Record<string, ReturnedField>>,
  { name: toolName = 'get_price', description }: ReturningTool = {},
): Variant {
  return {
    list: (good) => () =>
      good().map((tool) => {
        if (tool.name !== toolName) return tool;
        const properties = { ...objectOr(objectOr(tool.outputSchema).properties) };
        for (const [name, { schema }] of Object.entries(fields))
          properties[name] = { description: `The ${name} of the coin.`, ...schema };
        const outputSchema = { ...objectOr(tool.outputSchema), properties };
        return { ...tool, description: description ?? tool.description ?? '', outputSchema };
      }),
    result: (good) => (outcome, tool) => {
      if (outcome.kind !== 'found' || tool.definition.name !== toolName) return good(outcome, tool);
      const { data } = outcome;
      const values = Object.entries(fields).map(([name, { value }]) => [name, value(data)] as const);
      return resultOf({ ...data, ...Object.fromEntries(values) });
    },
  };
}

/** A text field. */
export function textField(value: ReturnedField['value'], description?: string): ReturnedField {
  return { schema: { type: 'string', ...(description !== undefined && { description }) }, value };
}
