import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import type { JsonObject } from 'market-mcp-contract/json';
import { openLocalPlatform } from '../dev/local-server.ts';
import { isStampOfRunning, ownStamp } from '../dev/published.ts';
import { readSealed } from '../project/read/read.ts';
import {
  makeStateDirectory,
  refuseLinkedState,
  saveSealed,
  stateDirectory,
} from '../project/write/state-directory.ts';
import { marketCommand } from '../system/command-line.ts';
import { type Access, accessIn, isSame, linkOf, proofHeader, proofOf, proofPath } from './core/access.ts';
import { Marketplace } from './core/marketplace.ts';
import type { MarketplaceOptions } from './core/model.ts';
import { MarketplaceStore } from './core/store.ts';
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
 * Opens and serves the marketplace of a directory, and stores its link there for other commands, unless one runs there. The next marketplace of the
 * directory has the same secret, so a page that is open in a browser keeps working.
 *
 * @throws CommandError `STATE_DAMAGED`, `IN_PRODUCTION`, `LINK_IN_THE_WAY`, `NOT_WRITABLE`, `PORT_TAKEN`.
 */
export async function openLocalMarketplace({
  keyDirectory,
  port,
  reset = false,
  ...options
}: LocalOptions): Promise<Local> {
  const { directory, profile } = options;
  refuseLinkedState(directory);
  const { privateKey, issuer } = await openLocalPlatform(keyDirectory, profile.token, process.env);
  await makeStateDirectory(directory);
  if (reset) await new MarketplaceStore(directory).reset();
  const marketplace = await Marketplace.open({ ...options, privateKey, issuer });
  const file = noteOf(directory);
  const before = readSealed(file) ?? {};
  const serving = await serveMarketplace(marketplace, port, keptSecret(before));
  try {
    if (!(await believed(before, true))) await saveSealed(file, { link: linkOf(serving), ...ownStamp() });
    return { ...serving, marketplace };
  } catch (error) {
    await serving.close();
    throw error;
  }
}

/**
 * The marketplace that runs for a directory; undefined if there is none.
 *
 * @throws CommandError if MARKET_MCP_URL names none.
 */
export async function runningMarketplace(directory: string): Promise<Access | undefined> {
  const given = process.env.MARKET_MCP_URL;
  if (given !== undefined && given !== '') return namedMarketplace(given);
  return believed(readSealed(noteOf(directory)) ?? {});
}

/**
 * The marketplace that a note names, if it runs and proves that it knows the secret.
 *
 * @param mayBeBusy whether one that does not answer in time is believed, too
 */
async function believed(note: JsonObject, mayBeBusy = false): Promise<Access | undefined> {
  const access = accessIn(note.link);
  if (!access || !isStampOfRunning(note)) return undefined;
  const objection = await objectionTo(access);
  return objection === undefined || (mayBeBusy && objection === silence) ? access : undefined;
}

async function namedMarketplace(link: string): Promise<Access> {
  const access = accessIn(link);
  if (!access) {
    const message = `MARKET_MCP_URL: expected the link that the marketplace printed, got ${JSON.stringify(link)}`;
    const hint = 'Write it as printed, http://….localhost:4400/?secret=…, or unset MARKET_MCP_URL.';
    throw new CommandError('BAD_LINK', message, hint);
  }
  const objection = await objectionTo(access);
  if (objection === undefined) return access;
  const start = marketCommand('marketplace');
  const hint = `Start it and use the link that it prints, or unset MARKET_MCP_URL. To start it: ${start}`;
  throw new CommandError('NO_MARKETPLACE', `${access.url} ${objection}`, hint);
}

const silence = 'does not answer in time';

/** Longer than a machine with much to do keeps a caller of a marketplace or of a server waiting. */
export const answerMs = 10_000;

/** Why a marketplace is not believed; undefined if it proves that it knows the secret, which is not sent. */
async function objectionTo(access: Access): Promise<string | undefined> {
  const nonce = randomBytes(16).toString('base64url');
  try {
    const { headers } = await fetch(`${access.url}${proofPath}?nonce=${nonce}`, {
      method: 'HEAD',
      redirect: 'error',
      signal: AbortSignal.timeout(answerMs),
    });
    const isProven = isSame(headers.get(proofHeader), proofOf(access, nonce));
    return isProven ? undefined : 'is not the marketplace of this secret';
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') return silence;
    return `does not answer as a marketplace (${(error as Error).message})`;
  }
}

/** The secret of a note whose marketplace had a host of its own for its pages. Any other secret was sent to all ports of 127.0.0.1. */
function keptSecret({ link }: JsonObject): string | undefined {
  const access = accessIn(link);
  return access && link === linkOf(access) ? access.secret : undefined;
}

function noteOf(directory: string): string {
  return join(directory, stateDirectory, 'running.json');
}

/** Sends a request to the JSON form of a page. @throws CommandError with the marketplace's error. */
export async function requestJson<Answer>(
  { url, secret }: Access,
  path: string,
  body?: object,
): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${secret}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  }).catch((error: Error) => {
    const hint = `Start it again: ${marketCommand('marketplace')}`;
    throw new CommandError('NO_MARKETPLACE', `${url} does not answer (${error.message})`, hint);
  });
  const parsed = (await answer.json()) as {
    error?: { code: string; message: string; hint: string };
  } & Answer;
  if (!parsed.error || answer.ok) return parsed;
  const { code, message, hint } = parsed.error;
  throw new CommandError(code, message, hint);
}
