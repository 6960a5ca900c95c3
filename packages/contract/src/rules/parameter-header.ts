import { isObject, shorten } from '../json/json.ts';
import type { Problem } from '../model.ts';
import { must, problemsAt, problemUnless, type StaticRule, valueProblems } from './rule.ts';
import { inputSchemas } from './schema-problems.ts';

/** A parameter that clients repeat in a header, for routers that do not read the body. */
export const parameterHeader: StaticRule = {
  ...must('modern.parameter-header', 'MCP 2026-07-28, Streamable HTTP: custom headers from tool parameters'),
  title: 'every x-mcp-header names a distinct header, for a parameter whose value fits into a header',
  fix: 'Use x-mcp-header only on strings, integers and booleans inside properties, each with its own name of letters, digits and -.',
  inspect: (tool) => {
    const usedHeaders = new Set<string>();
    return inputSchemas(tool).flatMap(({ path, schema }): readonly Problem[] => {
      if (!isObject(schema) || !Object.hasOwn(schema, 'x-mcp-header')) return [];
      const name = schema['x-mcp-header'];
      const isToken = typeof name === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(name);
      const isNew = isToken && !usedHeaders.has(name.toLowerCase());
      if (isToken) usedHeaders.add(name.toLowerCase());
      const at = `${path}.x-mcp-header`;
      return [
        ...valueProblems(isToken, at, 'the name of a header', name),
        ...valueProblems(!isToken || isNew, at, 'a name that no other parameter has', name),
        ...problemUnless(primitive.has(schema.type), {
          path: at,
          expected: 'on a string, an integer or a boolean',
          actual: `on ${shorten(schema.type)}`,
        }),
        ...problemsAt(/^inputSchema(\.properties\.[^.]+)+$/.test(path), at, 'below properties alone', path),
      ];
    });
  },
};

const primitive = new Set<unknown>(['string', 'integer', 'boolean']);
