import {
  completeHints,
  effects,
  signals,
  type ToolDefinition,
  titleOf,
} from 'market-mcp-contract/definition';
import { type JsonObject, membersOf } from 'market-mcp-contract/json';
import { fieldsSchema } from '../fields/shape.ts';
import { allowBlank } from '../fixes/output-fixes.ts';
import type { Field, ToolSpec } from '../model/tool-model.ts';

/**
 * The MCP definition of a ToolSpec (C§2.1). A list becomes an object with `items` and `count`. Required output
 * fields may be null and the signals are declared, so the outputSchema allows all three outcomes of a call. A missing title
 * and missing annotations are derived from the name.
 */
export function definitionOf(spec: ToolSpec): ToolDefinition {
  const { name, title, description, input, output, returns, effect, annotations, icons, _meta } = spec;
  return {
    name,
    title: title ?? titleOf(name),
    description,
    inputSchema: { type: 'object', ...fieldsSchema(input) },
    outputSchema: outputSchemaOf(output, returns),
    annotations: completeHints(name, effect ? { ...effects[effect], ...annotations } : annotations),
    ...(icons && { icons }),
    ...(_meta && { _meta }),
  };
}

/** The schema of a result with these fields, or of a list of such results. */
export function outputSchemaOf(output: readonly Field[], returns: ToolSpec['returns']): JsonObject {
  const result = fieldsSchema(output);
  const items = { type: 'array', description: 'The items found.', items: { type: 'object', ...result } };
  return withSignals(returns === 'list' ? listResult(items) : result);
}

/** The outputSchema for results with these `properties` and `required`: it allows all three outcomes of a call. */
export function withSignals(result: JsonObject): JsonObject {
  const schema = allowBlank({ type: 'object', ...result });
  return { ...schema, properties: { ...signals, ...membersOf(schema) } };
}

/** `properties` and `required` of a result that is a list: the root of an outputSchema is an object (C§2.1). */
export function listResult(items: JsonObject): JsonObject {
  return {
    properties: { items, count: { type: 'integer', description: 'Number of items in this answer.' } },
    required: ['items', 'count'],
  };
}
