import { isObject, objectOr } from '../json.ts';
import type { Json, JsonObject } from '../model.ts';
import { NotRun } from '../report/not-run.ts';
import { bounds, isReadable } from '../schema/walk.ts';
import { type Listing, listTools, type Pages } from './listing.ts';
import { modernRpc, parameterHeaders } from './modern.ts';
import type { PostOptions } from './requests.ts';
import type { RpcAnswer } from './rpc.ts';
import { Sessions } from './sessions.ts';

/** The list of tools, read in the judged era. */
export class Lists extends Sessions {
  /** The answer to the run's first server/discover, with which the stateless revision begins. */
  discovered(): Promise<RpcAnswer> {
    return this.once('discovered', () => modernRpc(this, 'server/discover'));
  }

  /** The answer to the opening request of the judged era. */
  greeted(): Promise<RpcAnswer> {
    return this.#isModernAlone ? this.discovered() : this.initialized();
  }

  get #isModernAlone(): boolean {
    return this.target.era === 'modern';
  }

  /** The elements of the tool list that are checked. */
  async listed(): Promise<readonly Json[]> {
    return (await this.listing()).tools;
  }

  /** The tool list. @throws NotRun, NoAnswer if it cannot be read to its end. */
  async listing(): Promise<Listing> {
    const { fault, ...listing } = await this.pages();
    if (fault) throw fault.silence ?? NotRun.by('list');
    return listing;
  }

  /** The pages of the tool list, read once. */
  pages(): Promise<Pages> {
    return this.once('pages', () => listTools((params) => this.plain('tools/list', params)));
  }

  /** The pages of the tool list in the stateless revision, read once. */
  modernPages(): Promise<Pages> {
    if (this.#isModernAlone) return this.pages();
    return this.once('modern pages', () =>
      listTools((params) => modernRpc(this, 'tools/list', objectOr(params))),
    );
  }

  /** The tools that are checked: the objects of the list, within the limits. */
  tools(): Promise<readonly JsonObject[]> {
    return this.once('tools', async () =>
      (await this.listed())
        .slice(0, bounds.tools)
        .filter(isObject)
        .filter((tool) => isReadable(tool)),
    );
  }

  /** A request in the judged era; in a session if both are judged. */
  protected async plain(method: string, params?: Json, options: PostOptions = {}): Promise<RpcAnswer> {
    if (!this.#isModernAlone) return this.rpc(method, params, options);
    const given = objectOr(params);
    const repeated = method === 'tools/call' ? await this.repeatedHeaders(given) : {};
    const headers = { ...repeated, ...options.headers };
    return modernRpc(this, method, given, { ...options, headers });
  }

  /** The headers of the stateless revision that repeat arguments of a call. */
  async repeatedHeaders({ name, arguments: args }: JsonObject): Promise<Readonly<Record<string, string>>> {
    const tools = (await this.pages()).fault ? [] : await this.tools();
    const tool = tools.find((one) => one.name === name);
    return parameterHeaders(tool?.inputSchema, args);
  }
}
