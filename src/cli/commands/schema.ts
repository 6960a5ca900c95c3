import { examplesSchema } from '../../check/examples.ts';
import { type ExitCode, exitCodes } from '../../model/command-error.ts';
import { specFileSchema } from '../../tools/tool-spec-schema.ts';
import type { Output } from '../output.ts';

const schemas = { spec: specFileSchema, examples: examplesSchema } as const;

/** `market-mcp spec-schema` and `examples-schema`: the JSON Schema of what `--spec` or `check --examples` takes. */
export async function printSchema(name: keyof typeof schemas, output: Output): Promise<ExitCode> {
  output.line(JSON.stringify(schemas[name], null, 2));
  output.result(schemas[name]);
  return exitCodes.ok;
}
