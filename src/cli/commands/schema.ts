import type { ExitCode, Output } from 'market-mcp-contract/command';
import { examplesSchema } from 'market-mcp-contract/report';
import { specFileSchema } from '../../tools/tool-spec-schema.ts';

/** `market-mcp spec-schema`: the JSON Schema of what `--spec` takes. */
export async function printSpecSchema(output: Output): Promise<ExitCode> {
  return print(specFileSchema, output);
}

/** `market-mcp examples-schema`: the JSON Schema of what `check --examples` takes. */
export async function printExamplesSchema(output: Output): Promise<ExitCode> {
  return print(examplesSchema, output);
}

function print(schema: object, output: Output): ExitCode {
  output.line(JSON.stringify(schema, null, 2));
  return output.result(schema);
}
