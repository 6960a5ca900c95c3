import type { ExitCode, Output } from 'market-mcp-contract/command';
import { examplesSchema } from 'market-mcp-contract/report';
import { specFileSchema } from '../../tools/tool-spec-schema.ts';

const schemas = { spec: specFileSchema, examples: examplesSchema } as const;

/** `market-mcp schema <spec|examples>`: the JSON Schema of the files of `--spec`, or of `check --examples`. */
export async function printSchema(files: keyof typeof schemas, output: Output): Promise<ExitCode> {
  const schema = schemas[files];
  output.line(JSON.stringify(schema, null, 2));
  return output.result(schema);
}
