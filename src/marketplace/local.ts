import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openLocalPlatform } from '../dev/local-platform.ts';
import { MarketError } from './core/errors.ts';
import { Marketplace, type MarketplaceOptions } from './core/marketplace.ts';
import { Store, stateDirectory } from './core/store.ts';
import { type Serving, serveMarketplace } from './web/serve.tsx';

export interface LocalOptions extends Omit<MarketplaceOptions, 'privateKey' | 'issuer'> {
  /** The directory with the key: a project whose server trusts it. */
  readonly keyDirectory: string;
  /** undefined: the default port, or the first free one after it. */
  readonly port?: number | undefined;
  /** Deletes the stored state first. */
  readonly reset?: boolean | undefined;
}

/** A running marketplace, and how to end it. */
export interface Local extends Serving {
  readonly marketplace: Marketplace;
}

/**
 * Opens and serves the marketplace of a directory, and stores its address there for other commands.
 *
 * @throws ProjectError `STATE_DAMAGED`, `IN_PRODUCTION`. @throws MarketError `PORT_TAKEN`.
 */
export async function openLocalMarketplace({
  keyDirectory,
  port,
  reset = false,
  ...options
}: LocalOptions): Promise<Local> {
  const { privateKey, issuer } = await openLocalPlatform(keyDirectory, options.profile.token, process.env);
  if (reset) await new Store(options.directory).reset();
  const marketplace = await Marketplace.open({ ...options, privateKey, issuer });
  const serving = await serveMarketplace(marketplace, port).catch(async (error) => {
    await marketplace.close();
    throw error;
  });
  const note = noteOf(options.directory);
  await mkdir(join(options.directory, stateDirectory), { recursive: true });
  await writeFile(join(options.directory, stateDirectory, '.gitignore'), '*\n');
  await writeFile(note, JSON.stringify({ url: serving.url, pid: process.pid }));
  return {
    marketplace,
    url: serving.url,
    async close() {
      await rm(note, { force: true });
      await serving.close();
      await marketplace.close();
    },
  };
}

const answerMs = 1_000;

/** The address of the marketplace that runs for a directory; undefined if none answers. */
export async function runningMarketplace(directory: string): Promise<string | undefined> {
  const given = process.env.MARKET_MCP_URL;
  if (given !== undefined && given !== '') return given.replace(/\/$/, '');
  try {
    const { url } = JSON.parse(await readFile(noteOf(directory), 'utf8')) as { url: string };
    const answer = await fetch(`${url}/.well-known/jwks.json`, { signal: AbortSignal.timeout(answerMs) });
    return answer.ok ? url : undefined;
  } catch {
    return undefined;
  }
}

function noteOf(directory: string): string {
  return join(directory, stateDirectory, 'running.json');
}

/** Sends a request to the JSON form of a page. @throws MarketError with the marketplace's error. */
export async function requestJson<Answer>(url: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  }).catch((error: Error) => {
    const hint = 'Start it with market-mcp marketplace, or unset MARKET_MCP_URL.';
    throw new MarketError('NO_MARKETPLACE', `${url} does not answer (${error.message})`, hint);
  });
  const told = (await answer.json()) as { error?: { code: string; message: string; hint: string } } & Answer;
  if (!told.error || answer.ok) return told;
  const { code, message, hint } = told.error;
  throw new MarketError(code, message, hint);
}
