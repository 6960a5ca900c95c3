import { CommandError } from 'market-mcp-contract/command';
import type { Json } from 'market-mcp-contract/json';
import type { CallReport } from './caller.ts';
import type { Marketplace } from './marketplace.ts';
import { type DeliberateError, deliberateErrors } from './marketplace-model.ts';

/** A call that was ordered on the page or by `market-mcp call`. */
export interface ToolCall {
  /** The URL of the server; the author's server if it is empty. */
  readonly endpoint: string;
  readonly tool: string;
  /** A key of `deliberateErrors`; empty for a normal call. */
  readonly deliberate: string;
  /** Returns the arguments for the `inputSchema` of the tool; undefined if the server does not list the tool. */
  argumentsFor(inputSchema: Json | undefined): Json;
}

/**
 * Calls a tool as the platform does.
 *
 * @throws CommandError `NO_SERVER`, `BAD_WAY`, `NOT_CALLED`, or the reason why the author's server does not run
 */
export async function callAsPlatform(marketplace: Marketplace, call: ToolCall): Promise<CallReport> {
  const endpoint = call.endpoint || (await authorEndpoint(marketplace));
  const deliberate = deliberateError(call.deliberate);
  await marketplace.requireRunning(endpoint);
  const { tools } = await marketplace.readTools(endpoint);
  const definition = tools.find((tool) => tool.name === call.tool)?.definition;
  const args = call.argumentsFor(definition?.inputSchema);
  const order = { endpoint, tool: call.tool, arguments: args, definition, deliberate };
  return marketplace.call(order).catch((error: Error) => {
    const hint = 'Correct the URL: it must be that of the MCP endpoint, such as http://localhost:3000/mcp.';
    throw new CommandError('NOT_CALLED', `${endpoint}: ${error.message}`, hint);
  });
}

/** Returns the URL of the author's server, or of the first listing if there is none. @throws CommandError `NO_SERVER` */
export async function authorEndpoint(marketplace: Marketplace): Promise<string> {
  const { listings } = await marketplace.store.read();
  const endpoint = marketplace.options.endpoint ?? listings[0]?.endpoint;
  if (endpoint !== undefined) return endpoint;
  const hint = 'Run the command in a project, or name a server with --endpoint <url>.';
  throw new CommandError('NO_SERVER', 'no server is known', hint);
}

function deliberateError(name: string): DeliberateError | undefined {
  if (name === '') return undefined;
  if (Object.hasOwn(deliberateErrors, name)) return name as DeliberateError;
  const names = Object.keys(deliberateErrors).join(', ');
  const message = `there is no kind of call ${JSON.stringify(name)}`;
  throw new CommandError('BAD_WAY', message, `Choose one of: ${names}.`);
}
