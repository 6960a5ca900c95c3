import { type JsonObject, present } from 'market-mcp-contract/json';
import type { Field, Shape } from '../model/model.ts';

/** The JSON Schema of a value, exactly as its author described it. */
export function shapeSchema(shape: Shape): JsonObject {
  const { type, nullable = false } = shape;
  return present({
    type: nullable ? [type, 'null'] : type,
    description: shape.description,
    enum: shape.enum && nullable ? [...shape.enum, null] : shape.enum,
    format: shape.format,
    pattern: shape.pattern,
    minimum: shape.minimum,
    maximum: shape.maximum,
    default: shape.default,
    examples: shape.examples,
    items: shape.items && shapeSchema(shape.items),
    ...(shape.fields && fieldsSchema(shape.fields)),
  });
}

/** `properties` and `required` of an object with these members. */
export function fieldsSchema(fields: readonly Field[]): {
  properties: JsonObject;
  required: readonly string[];
} {
  return {
    properties: Object.fromEntries(fields.map((field) => [field.name, shapeSchema(field)])),
    required: fields.filter((field) => field.required).map((field) => field.name),
  };
}
