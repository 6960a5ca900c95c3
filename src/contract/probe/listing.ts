import type { Json } from '../model.ts';
import { NotRun } from '../not-run.ts';
import { bounds } from '../walk.ts';
import type { RpcAnswer } from './rpc.ts';

export interface Listing {
  readonly tools: readonly Json[];
  /** Whether the last page was read; false if the limits were reached first. */
  readonly ended: boolean;
}

/**
 * The elements of the tool list as the server sends it, page by page, up to the limits.
 *
 * @param ask sends tools/list with these params.
 * @throws NotRun if an answer contains no list.
 */
export async function listTools(ask: (params?: Json) => Promise<RpcAnswer>): Promise<Listing> {
  const tools: Json[] = [];
  let cursor: Json | undefined;
  for (let page = 0; page < bounds.pages && tools.length <= bounds.tools; page++) {
    const { result } = await ask(cursor === undefined ? undefined : { cursor });
    if (!Array.isArray(result?.tools))
      throw new NotRun('tools/list returned no list of tools (see discovery.tools-list)');
    for (const tool of result.tools) tools.push(tool);
    cursor = result.nextCursor;
    if (cursor === undefined || cursor === null) return { tools, ended: true };
  }
  return { tools, ended: false };
}
