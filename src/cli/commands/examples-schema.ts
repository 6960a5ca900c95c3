import { examplesSchema } from '../../check/examples.ts';
import { type ExitCode, exitCodes } from '../../model/command-error.ts';
import type { Output } from '../output.ts';

/** `market-mcp examples-schema`: the JSON Schema of what `check --examples` takes. */
export async function printExamplesSchema(output: Output): Promise<ExitCode> {
  output.line(JSON.stringify(examplesSchema, null, 2));
  output.result(examplesSchema);
  return exitCodes.ok;
}
