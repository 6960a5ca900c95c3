import type { Json } from '../model.ts';
import { NotRun } from '../rule.ts';
import { bounds } from '../walk.ts';
import type { RpcAnswer } from './rpc.ts';

/**
 * The elements of the tool list as the server sends it, page after page; those beyond the bounds are not asked for.
 *
 * @param ask sends tools/list with these params.
 * @throws NotRun where an answer holds no list.
 */
export async function listTools(ask: (params?: Json) => Promise<RpcAnswer>): Promise<readonly Json[]> {
  const listed: Json[] = [];
  let cursor: Json | undefined;
  for (let page = 0; page < bounds.pages && listed.length <= bounds.tools; page++) {
    const { result } = await ask(cursor === undefined ? undefined : { cursor });
    if (!Array.isArray(result?.tools)) throw new NotRun('tools/list gave no tools (discovery.tools-list)');
    for (const tool of result.tools) listed.push(tool);
    cursor = result.nextCursor;
    if (cursor === undefined || cursor === null) break;
  }
  return listed;
}
