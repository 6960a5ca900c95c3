import { isDeepStrictEqual } from 'node:util';
import { call, identitiesFor, start } from './contestants.js';
import { load } from './load.js';
import { initializeParams, modernHeaders, modernParams, openSession, request } from './mcp.js';
import { signTokens } from './tokens.js';

/** @import { Contestant } from './contestants.js' */
/** @import { Extent, LoadResult } from './load.js' */
/** @import { Running } from './server.js' */

/**
 * One kind of request to a live server.
 *
 * @typedef {object} Scenario
 * @property {string} title
 * @property {'tools/call' | 'tools/list' | 'initialize'} method
 * @property {'none' | 'one' | 'fresh'} token whether the server requires tokens, and how often callers change theirs
 */

/** More than a server caches, so that none is cached when it is used again. */
const freshTokens = 3_000;

/** @type {readonly string[]} */
let tokens = [];

/** @param {Scenario['token']} kind */
async function tokensFor(kind) {
  const count = tokenCount(kind);
  if (tokens.length < count) tokens = await signTokens(count);
  return tokens.slice(0, count);
}

/** @param {Scenario['token']} kind */
function tokenCount(kind) {
  if (kind === 'fresh') return freshTokens;
  return kind === 'one' ? 1 : 0;
}

/**
 * Starts a server and describes the job that loads it.
 *
 * @param {Contestant} contestant
 * @param {Scenario} scenario
 * @param {unknown} answer the expected answer of a call
 */
async function enter(contestant, { method, token: kind }, answer) {
  const used = await tokensFor(kind);
  const { modern = false } = contestant;
  const server = await start(contestant, kind !== 'none');
  try {
    await proveAnswer(server, answer, used[0], modern);
    const sessions = method !== 'initialize' && !modern;
    const plain = await identitiesFor(server, { sessions, token: used[0] });
    const { url, pid } = server;
    const asked = { 'tools/call': call, 'tools/list': {}, initialize: initializeParams }[method];
    const params = modern ? modernParams(asked) : asked;
    const identities = plain.map((headers) => ({ ...headers, ...(modern && modernHeaders(method, asked)) }));
    const job = { url, pid, method, params, identities, ...(kind === 'fresh' && { tokens: used }) };
    return {
      stop: server.stop,
      /** @param {Extent} warmUp @param {Extent} extent */
      load: (warmUp, extent) => load({ ...job, warmUp, extent }),
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/**
 * @param {Running} server
 * @param {unknown} answer
 * @param {string | undefined} token
 * @param {boolean} modern
 * @throws {Error} if a call returns another answer
 */
async function proveAnswer({ url }, answer, token, modern) {
  const session = modern ? undefined : await openSession(url, token);
  const { result } = await request(url, 'tools/call', call, { session, token, modern });
  if (!isDeepStrictEqual(result.structuredContent, answer)) {
    throw new Error(`another answer: ${JSON.stringify(result).slice(0, 200)}`);
  }
}

/**
 * @typedef {object} Compared
 * @property {Map<string, LoadResult[]>} results rounds by contestant
 * @property {readonly string[]} notes contestants that could not take part
 */

/**
 * Loads contestants in turn with the same requests.
 *
 * @param {Scenario} scenario
 * @param {readonly Contestant[]} contestants
 * @param {unknown} answer
 * @param {{ readonly rounds: number, readonly seconds: number, readonly warmUpSeconds: number }} extent
 * @returns {Promise<Compared>}
 */
export async function compare(scenario, contestants, answer, { rounds, seconds, warmUpSeconds }) {
  /** @type {string[]} */
  const notes = [];
  /** @type {Map<string, Awaited<ReturnType<typeof enter>>>} */
  const entered = new Map();
  /** @type {Map<string, LoadResult[]>} */
  const results = new Map();
  const attempt = async (/** @type {string} */ title, /** @type {() => Promise<void>} */ act) => {
    try {
      await act();
    } catch (error) {
      notes.push(`${title}, ${scenario.title}: ${oneLine(error)}`);
      await entered.get(title)?.stop();
      entered.delete(title);
      results.delete(title);
    }
  };
  try {
    for (const contestant of contestants) {
      const { title } = contestant;
      await attempt(title, async () => {
        const rival = await enter(contestant, scenario, answer);
        entered.set(title, rival);
        results.set(title, []);
        await rival.load({ amount: 100 }, { duration: warmUpSeconds });
      });
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const [title, { load }] of entered) {
        await attempt(title, async () => {
          results.get(title)?.push(await load({ duration: 1 }, { duration: seconds }));
        });
      }
    }
    return { results, notes };
  } finally {
    for (const { stop } of entered.values()) await stop();
  }
}

/** V8 enlarges its young generation within the first 100,000 calls of a server. */
const settledAfter = 150_000;

/**
 * Measures a server's memory growth over many requests, after enough requests for it to settle.
 *
 * @param {Scenario} scenario
 * @param {Contestant} contestant
 * @param {unknown} answer
 * @param {number} amount of requests
 * @returns {Promise<LoadResult>}
 */
export async function grow(scenario, contestant, answer, amount) {
  const { load, stop } = await enter(contestant, scenario, answer);
  try {
    return await load({ amount: Math.min(settledAfter, 3 * amount) }, { amount });
  } finally {
    await stop();
  }
}

/** @param {unknown} error */
function oneLine(error) {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  return (cause instanceof Error ? `${message}: ${cause.message}` : message).replaceAll(/\s+/g, ' ');
}
