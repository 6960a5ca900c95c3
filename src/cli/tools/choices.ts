import {
  CommandError,
  counted,
  type ExitCode,
  nameList,
  type Output,
  singleLine,
  unwrap,
} from 'market-mcp-contract/command';
import type { ImportRun } from '../../changes/import-run.ts';
import { documentAt } from '../../changes/openapi.ts';
import { readRequestText } from '../../changes/request-tools.ts';
import {
  brokenOperationsOf,
  listReadableOperations,
  matching,
  operationName,
} from '../../import/openapi/operations.ts';
import type { HeaderPairs } from '../../project/read/read-document.ts';

/**
 * Prints the operations of a document for an author to choose from.
 *
 * @param headers for its download
 * @param search words that each of them contains; undefined: all are printed
 */
export async function listOperations(
  place: string,
  headers: HeaderPairs,
  search: string | undefined,
  run: ImportRun,
  output: Output,
): Promise<ExitCode> {
  const { document: read, location } = await documentAt(place, headers, run);
  const document = unwrap(read);
  const allOperations = unwrap(listReadableOperations(document, location));
  const operations = search === undefined ? allOperations : matching(allOperations, search);
  const names = operations.map(operationName);
  const width = Math.min(50, Math.max(0, ...names.map((name) => name.length)));
  for (const [i, { id, method, path, summary }] of operations.entries()) {
    const address = id === null ? '' : `${method.toUpperCase()} ${path}  `;
    output.line(singleLine(`${(names[i] ?? '').padEnd(width)}  ${address}${summary}`));
  }
  if (operations.length > 0) output.line();
  output.line(singleLine(closing(operations.length, allOperations.length, search)));
  const broken = brokenOperationsOf(document).map(({ name, refusal }) => `${name}: ${refusal.message}`);
  for (const problem of broken) output.note(`Cannot be imported: ${problem}`);
  return output.result({
    ok: true,
    operations: operations.map(({ id, method, path, summary }) => ({ id, method, path, summary })),
    ...(broken.length > 0 && { leftOut: broken }),
  });
}

/** The error of a document of which no operation was chosen, with the first operations. */
export async function unchosenOperation(
  place: string,
  headers: HeaderPairs,
  run: ImportRun,
): Promise<CommandError> {
  const { document, location } = await documentAt(place, headers, run);
  const names = unwrap(listReadableOperations(unwrap(document), location)).map(operationName);
  const hint = `Add --operation <name>, repeatable. The document has ${nameList(names)}. Without --yes, all are listed.`;
  return new CommandError('MISSING_ANSWERS', '--from-openapi needs --operation: it has no default', hint);
}

function closing(shownCount: number, totalCount: number, search: string | undefined): string {
  const choose = 'Choose with --operation <name>; repeat the flag for more.';
  if (search === undefined) return `${counted(totalCount, 'operation')}. ${choose}`;
  const found = `${shownCount} of ${totalCount} operations contain ${JSON.stringify(search)}.`;
  return `${found} ${shownCount > 0 ? choose : 'Search with other or fewer words.'}`;
}

/** Prints the requests of a file for an author to choose from; undefined if there is only one request. */
export async function listFileRequests(
  path: string,
  run: ImportRun,
  output: Output,
): Promise<ExitCode | undefined> {
  const fileRequests = unwrap(await readRequestText(path, run));
  if (fileRequests.length === 1) return undefined;
  const requests = fileRequests.map(({ number = 1, method, url }) => ({
    number,
    method: method.toUpperCase(),
    // Its query may contain a key, and so may its user.
    url: url.replace(/\?.*/s, '').replace(/(?<=^[^/]*\/\/)[^/]*@/, ''),
  }));
  for (const { number, method, url } of requests)
    output.line(singleLine(`${String(number).padStart(4)}  ${method} ${url}`));
  output.line(`${requests.length} requests that were answered with JSON. Choose with --request <number>.`);
  return output.result({ ok: true, requests });
}
