import { documentAt } from '../../changes/openapi.ts';
import { nameOf, operationsOf } from '../../import/openapi/operations.ts';
import { type ExitCode, exitCodes, unwrapped } from '../../model/command-error.ts';
import type { Output } from '../output.ts';
import { singleLine } from '../single-line.ts';

/** Prints the operations of a document for an author to choose from. */
export async function listOperations(place: string, output: Output): Promise<ExitCode> {
  const { document } = await documentAt(place);
  const operations = operationsOf(unwrapped(document));
  const names = operations.map(nameOf);
  const width = Math.min(50, Math.max(0, ...names.map((name) => name.length)));
  for (const [i, { id, method, path, summary }] of operations.entries()) {
    const address = id === null ? '' : `${method.toUpperCase()} ${path}  `;
    output.line(singleLine(`${(names[i] ?? '').padEnd(width)}  ${address}${summary}`));
  }
  output.line();
  output.line(`${operations.length} operations. Choose with --operation <name>; repeat the flag for more.`);
  output.result({
    ok: true,
    operations: operations.map(({ id, method, path, summary }) => ({ id, method, path, summary })),
  });
  return exitCodes.ok;
}
