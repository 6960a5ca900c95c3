import { type ExitCode, exitCodes } from '../../model/command-error.ts';
import { specFileSchema } from '../../tools/tool-spec-schema.ts';
import type { Output } from '../output.ts';

/** `market-mcp spec-schema`: the JSON Schema of what `--spec` takes. */
export async function printSpecSchema(output: Output): Promise<ExitCode> {
  output.line(JSON.stringify(specFileSchema, null, 2));
  output.result(specFileSchema);
  return exitCodes.ok;
}
