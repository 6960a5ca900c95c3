import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import type { JsonObject } from 'market-mcp-contract/json';
import { isStampOfRunning } from '../dev/published-state.ts';
import { readSealed } from '../project/read/read-files.ts';
import { stateDirectory } from '../project/write/state-directory.ts';
import { marketCommand } from '../system/command-line.ts';
import { type Access, accessIn, isSame, proofHeader, proofOf, proofPath } from './core/page-access.ts';

/** Milliseconds that a busy machine may take to answer a caller of a marketplace or a server. */
export const answerMs = 10_000;

/** Path of the file that holds the link of the marketplace that runs for a directory. */
export function runningFile(directory: string): string {
  return join(directory, stateDirectory, 'running.json');
}

/**
 * Finds the marketplace that runs for a directory; undefined if there is none.
 *
 * @throws CommandError if MARKET_MCP_URL names no marketplace.
 */
export async function findRunningMarketplace(directory: string): Promise<Access | undefined> {
  const link = process.env.MARKET_MCP_URL;
  if (link !== undefined && link !== '') return marketplaceAt(link);
  return provenAccess(readSealed(runningFile(directory)) ?? {});
}

/**
 * Returns the access to the marketplace of a running file, if it runs and proves that it has the secret.
 *
 * @param mayBeBusy whether a marketplace that does not answer in time counts
 */
export async function provenAccess(
  { link, ...stamp }: JsonObject,
  mayBeBusy = false,
): Promise<Access | undefined> {
  const access = accessIn(link);
  if (!access || !isStampOfRunning(stamp)) return undefined;
  const objection = await findObjection(access);
  if (objection === undefined || (mayBeBusy && objection === silence)) return access;
  return undefined;
}

/** @throws CommandError `BAD_LINK`, or `NO_MARKETPLACE` if no marketplace with the link's secret answers. */
async function marketplaceAt(link: string): Promise<Access> {
  const access = accessIn(link);
  if (!access) {
    const message = `MARKET_MCP_URL: expected the link that the marketplace printed, got ${JSON.stringify(link)}`;
    const hint = 'Write it as printed, http://….localhost:4400/?secret=…, or unset MARKET_MCP_URL.';
    throw new CommandError('BAD_LINK', message, hint);
  }
  const objection = await findObjection(access);
  if (objection === undefined) return access;
  const start = marketCommand('marketplace');
  const hint = `Start it and use the link that it prints, or unset MARKET_MCP_URL. To start it: ${start}`;
  throw new CommandError('NO_MARKETPLACE', `${access.url} ${objection}`, hint);
}

const silence = 'does not answer in time';

/** Returns why a program is not the marketplace; undefined if it proves that it has the secret, which is not sent. */
async function findObjection(access: Access): Promise<string | undefined> {
  const nonce = randomBytes(16).toString('base64url');
  try {
    const { headers } = await fetch(`${access.url}${proofPath}?nonce=${nonce}`, {
      method: 'HEAD',
      redirect: 'error',
      signal: AbortSignal.timeout(answerMs),
    });
    const isProven = isSame(headers.get(proofHeader), proofOf(access, nonce));
    if (isProven) return undefined;
    return 'is not the marketplace of this secret';
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') return silence;
    return `does not answer as a marketplace (${(error as Error).message})`;
  }
}

/**
 * Sends a request to the JSON form of a page.
 *
 * @throws CommandError with the marketplace's error.
 */
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
