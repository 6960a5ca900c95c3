import { inputError, pass, refuse } from '../command/input-error.ts';
import type { Result } from '../command/input-result.ts';
import { readInput } from '../command/read-input.ts';
import { readDocument } from '../document/document.ts';
import { mismatches } from '../json/schema.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { ToolExample } from '../model.ts';

/** The calls of each tool, by its name. */
export type Examples = ReadonlyMap<string, readonly ToolExample[]>;

/** What `check --examples` takes, JSON or YAML. Draft-07. */
export const examplesSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Calls for market-mcp check',
  description:
    'Calls of each tool with the expected outcome. The check may call each tool that is named here.',
  type: 'object',
  properties: {
    $schema: { type: 'string', description: 'URL or path of this schema, for editors.' },
    tools: {
      type: 'object',
      description: 'The calls of each tool, by its name.',
      additionalProperties: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: {
            arguments: { type: 'object', description: 'The arguments of the call.' },
            expect: {
              enum: ['found', 'empty', 'fail'],
              description:
                'found: data. empty: searchExhausted or noResultsReason, and no data. fail: isError with error and message.',
            },
          },
          required: ['arguments', 'expect'],
          additionalProperties: false,
        },
      },
    },
  },
  required: ['tools'],
  additionalProperties: false,
} as const;

const sample = '{"tools": {"get_price": [{"arguments": {"symbol": "BTC"}, "expect": "found"}]}}';

/** The calls of a file, JSON or YAML; `-` is standard input. */
export async function readExamples(file: string): Promise<Result<Examples>> {
  const hint = `Write ${sample}; market-mcp schema examples prints the full schema.`;
  const document = await readMatching(file, examplesSchema, hint);
  if (!document.ok) return document;
  const { tools } = document.value as unknown as { tools: Readonly<Record<string, readonly ToolExample[]>> };
  return pass(new Map(Object.entries(tools)));
}

/** The document of a file, JSON or YAML. An error for each mismatch with the schema, with this hint. */
export async function readMatching(file: string, schema: JsonObject, hint: string): Promise<Result<Json>> {
  const document = readDocument(await readInput(file), file);
  if (!document.ok) return document;
  const problems = mismatches(schema, document.value, file);
  if (problems.length === 0) return document;
  return refuse(
    ...problems.map(({ path = file, expected, actual }) =>
      inputError(path, undefined, `expected ${expected}, got ${actual}`, hint),
    ),
  );
}
