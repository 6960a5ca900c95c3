import type { JsonObject } from '../contract/model.ts';
import { connect } from '../contract/probe/client.ts';
import { bounds } from '../contract/walk.ts';
import type { ListedServer } from '../import/mcp.ts';
import { ProjectError } from './errors.ts';

/** Timeout of each answer in milliseconds. */
const timeoutMs = 20_000;

/**
 * The tools that a running MCP server lists, read with limits of time and size. Redirects are not followed, and no tool is
 * called.
 *
 * @param token sent as a bearer token if the server requires one
 * @throws ProjectError `NOT_READABLE`
 */
export async function listServer(url: string, token: string | undefined): Promise<ListedServer> {
  const shown = url.replace(/[?#].*$/s, '');
  const failed = (why: string) =>
    new ProjectError(
      'NOT_READABLE',
      `${shown}: ${why}`,
      'Check the address: it is the MCP endpoint, such as https://tools.example.com/mcp.',
    );
  const isPlain =
    URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).username === '';
  if (!isPlain) throw failed('it is not an http or https URL without a user');
  const session = await connect({
    url: new URL(url),
    headers: {},
    token: token === undefined ? undefined : async () => token,
    platform: { header: 'authorization', scheme: 'Bearer' },
    redirect: 'error',
    timeoutMs,
    admit: () => {},
    onLate: (ms) => new Error(`no answer within ${ms} ms`),
  }).catch((error: Error) => {
    throw failed(reasonOf(error));
  });
  try {
    const { client } = session;
    const tools: JsonObject[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
      if (pages >= bounds.pages || tools.length > bounds.tools)
        throw new Error('its list of tools has no end');
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: timeoutMs });
      tools.push(...(page.tools as unknown as JsonObject[]));
      cursor = page.nextCursor;
    }
    if (tools.length === 0) throw new Error('it lists no tools');
    return { url, title: client.getServerVersion()?.name ?? '', tools };
  } catch (error) {
    throw failed(reasonOf(error as Error));
  } finally {
    await session.close();
  }
}

/** The message of an error on one line; text from a server is truncated. The SDK's errors use the HTTP status as code. */
function reasonOf(error: Error): string {
  const { message, cause, code: status } = error as Error & { readonly code?: unknown };
  if (status === 401 || status === 403)
    return 'it asks for a token: set one in the environment as MCP_SOURCE_TOKEN';
  const { code } = (cause ?? {}) as { code?: string };
  const text = code === undefined ? message : `${message} (${code})`;
  return `its tools cannot be listed: ${text.replaceAll(/\s+/g, ' ').slice(0, 200)}`;
}
