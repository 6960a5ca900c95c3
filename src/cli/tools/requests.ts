import { type ExitCode, type Output, singleLine, unwrap } from 'market-mcp-contract/command';
import { requestsIn } from '../../changes/request.ts';
import { isCurl } from '../../import/request/shown.ts';

/** Prints the requests of a HAR file for an author to choose from; undefined if there is one request alone. */
export async function listRequests(text: string, output: Output): Promise<ExitCode | undefined> {
  if (isCurl(text)) return undefined;
  const found = unwrap(await requestsIn(text));
  if (found.length === 1) return undefined;
  const requests = found.map(({ method, url }, i) => ({
    number: i + 1,
    method: method.toUpperCase(),
    // Its query may contain a key, and so may its user.
    url: url.replace(/\?.*/s, '').replace(/(?<=^[^/]*\/\/)[^/]*@/, ''),
  }));
  for (const { number, method, url } of requests)
    output.line(singleLine(`${String(number).padStart(4)}  ${method} ${url}`));
  output.line(`${requests.length} requests that were answered with JSON. Choose with --request <number>.`);
  return output.result({ ok: true, requests });
}
