import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { headersOf, openSession, request } from './mcp.js';
import { titleOf } from './peers.js';
import { benchDirectory, freshPath } from './places.js';
import { buildProject, definitionsOf, product, specOf, toolName } from './product.js';
import { startServer } from './server.js';
import { audience, issuer, publicKeyPem } from './tokens.js';

/** @import { Running } from './server.js' */

/**
 * A server in the comparison.
 *
 * @typedef {object} Contestant
 * @property {string} title
 * @property {string} script
 * @property {(auth: boolean) => Record<string, string | undefined>} env
 * @property {boolean} [modern] whether it gets requests of 2026-07-28, without sessions
 */

/**
 * The servers of one comparison. All have the tools and the answer of the generated server.
 *
 * @typedef {object} Field
 * @property {unknown} answer the structuredContent of every call
 * @property {Contestant} ours
 * @property {Contestant} reference
 * @property {Contestant} fastmcp
 * @property {Contestant} framework
 * @property {Contestant} bare
 * @property {Contestant} sdk2 the handler of version 2 of the SDK, with requests of 2026-07-28
 */

/** @type {Map<number, Promise<Field>>} */
const fields = new Map();

/**
 * The servers with this number of tools; the generated one is built.
 *
 * @param {number} tools
 * @returns {Promise<Field>}
 */
export function fieldOf(tools) {
  const known = fields.get(tools);
  if (known) return known;
  const field = buildField(tools);
  fields.set(tools, field);
  return field;
}

/**
 * The reference server with this number of tools, more than a project may contain.
 *
 * @param {number} tools
 * @returns {Promise<Contestant>}
 */
export async function referenceOf(tools) {
  const { ours } = await fieldOf(1);
  const { answer } = await taskOf(ours);
  return peersOf({ tools: definitionsOf(tools), answer }).reference;
}

/** @param {number} tools @returns {Promise<Field>} */
async function buildField(tools) {
  const directory = buildProject(['--spec', specOf(tools)]);
  /** @type {Contestant} */
  const ours = {
    title: `generated server (${product().title})`,
    script: join(directory, 'dist/src/main.js'),
    env: (auth) =>
      auth
        ? {
            PLATFORM_PUBLIC_KEY: publicKeyPem,
            PLATFORM_ISSUER: issuer,
            PLATFORM_AUDIENCE: audience,
            MAX_TOKEN_SECONDS: '3600', // the lifetime of the tokens here
          }
        : { AUTH: 'off', NODE_ENV: 'development' },
  };
  const task = await taskOf(ours);
  return { answer: task.answer, ours, ...peersOf(task) };
}

/** @param {{ readonly tools: unknown, readonly answer: unknown }} task the tools and the answer to serve */
function peersOf(task) {
  const taskFile = freshPath('task');
  writeFileSync(taskFile, JSON.stringify(task));
  const peer = (/** @type {string} */ title, /** @type {string} */ file) => ({
    title,
    script: join(benchDirectory, 'servers', file),
    env: (/** @type {boolean} */ auth) => ({
      BENCH_TASK: taskFile,
      ...(auth && { BENCH_PUBLIC_KEY: publicKeyPem, BENCH_ISSUER: issuer, BENCH_AUDIENCE: audience }),
    }),
  });
  return {
    reference: peer(
      `reference (${titleOf('express')}, ${titleOf('@modelcontextprotocol/sdk')})`,
      'reference.js',
    ),
    fastmcp: peer(titleOf('fastmcp'), 'fastmcp.js'),
    framework: peer(titleOf('mcp-framework'), 'mcp-framework.js'),
    bare: peer('bare node:http', 'bare.js'),
    sdk2: {
      ...peer(`SDK v2's handler (${titleOf('@modelcontextprotocol/server')}, ${titleOf('hono')})`, 'sdk2.js'),
      modern: true,
    },
  };
}

/** @param {Contestant} contestant */
async function taskOf(contestant) {
  const server = await start(contestant, false);
  try {
    const session = await openSession(server.url);
    const { result: list } = await request(server.url, 'tools/list', {}, { session });
    const { result } = await request(server.url, 'tools/call', call, { session });
    return { tools: list.tools, answer: result.structuredContent };
  } finally {
    await server.stop();
  }
}

/** The params of every tool call. */
export const call = { name: toolName, arguments: { symbol: 'BTC' } };

/** @param {Contestant} contestant @param {boolean} auth */
export function start(contestant, auth) {
  return startServer(contestant.script, contestant.env(auth));
}

const connections = 16;

/**
 * The headers of each connection.
 *
 * @param {Running} server
 * @param {{ readonly sessions: boolean, readonly token?: string }} options whether each connection has a separate session
 */
export function identitiesFor({ url }, { sessions, token }) {
  return Promise.all(
    Array.from({ length: connections }, async () => {
      const session = sessions ? await openSession(url, token) : undefined;
      return headersOf({ session, token });
    }),
  );
}
