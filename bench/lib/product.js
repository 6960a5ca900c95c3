import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measure } from './measure.js';
import { freshPath, repository } from './places.js';

/**
 * The product as users install it: packed and unpacked.
 *
 * @typedef {object} Product
 * @property {string} tarball
 * @property {string} directory
 * @property {string} create script of `create-market-mcp`
 * @property {string} market script of `market-mcp`
 * @property {string} title `create-market-mcp 1.2.3`
 */

/** @type {Product | undefined} */
let packed;

/**
 * Packs the output of `npm run build`, once.
 *
 * @returns {Product}
 */
export function product() {
  packed ??= unpack(pack(repository), 'create-market-mcp');
  return packed;
}

/**
 * Packs a package as npm publishes it.
 *
 * @param {string} source a directory, or `name@version` of a published package
 * @returns {string} the tarball
 */
export function pack(source) {
  const target = freshPath('packed');
  mkdirSync(target);
  const args = ['pack', source, '--ignore-scripts', '--pack-destination', target];
  execFileSync('npm', args, { stdio: 'ignore', cwd: target });
  return join(target, readdirSync(target)[0] ?? '');
}

/**
 * @param {string} tarball
 * @param {string} name
 * @returns {Product}
 */
function unpack(tarball, name) {
  const target = freshPath('product');
  mkdirSync(target);
  execFileSync('tar', ['-xzf', tarball, '-C', target]);
  const directory = join(target, 'package');
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  return {
    tarball,
    directory,
    create: join(directory, 'bin/create-market-mcp.js'),
    market: join(directory, 'bin/market-mcp.js'),
    title: `${name} ${version}`,
  };
}

/** The environment of measured commands, without variables of this process's package manager and of CI. */
export const plainEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name !== 'CI' && !name.startsWith('npm_')),
);

/**
 * Scaffolds a project without installing.
 *
 * @param {readonly string[]} [args]
 * @returns {string} its directory
 */
export function scaffold(args = []) {
  const parent = freshPath('project');
  mkdirSync(parent);
  measure(process.execPath, [product().create, 'server', '--yes', '--no-install', '--no-git', ...args], {
    cwd: parent,
    env: plainEnvironment,
  });
  return join(parent, 'server');
}

/** @type {string | undefined} */
let modules;

/**
 * Scaffolds and builds a project; all such projects share one node_modules.
 *
 * @param {readonly string[]} [args]
 * @returns {string} its directory
 */
export function buildProject(args = []) {
  const directory = scaffold(args);
  modules ??= installModules();
  symlinkSync(modules, join(directory, 'node_modules'), 'dir');
  measure(process.execPath, [compiler(directory)], { cwd: directory, env: plainEnvironment });
  return directory;
}

/**
 * Arguments for Node that run the self-check of the built project in the current directory.
 *
 * @param {string} [market] script of `market-mcp`
 */
export function selfCheckArguments(market = product().market) {
  return [market, 'check', '--no-build'];
}

/** The compiler of a project with installed node_modules. @param {string} directory */
export function compiler(directory) {
  return join(directory, 'node_modules/typescript/bin/tsc');
}

function installModules() {
  const directory = scaffold(['--deploy', 'redis']);
  measure('npm', ['install', '--no-audit', '--no-fund'], { cwd: directory, env: plainEnvironment });
  return join(directory, 'node_modules');
}

/**
 * Writes a spec file with this number of tools, as plain MCP definitions.
 *
 * @param {number} count
 * @returns {string} its path
 */
export function specOf(count) {
  const file = freshPath('spec');
  writeFileSync(file, JSON.stringify(definitionsOf(count)));
  return file;
}

/** This number of different tools. @param {number} count */
export function definitionsOf(count) {
  return Array.from({ length: count }, (_, index) => definition(index));
}

export const toolName = 'get_price_1';

/** @param {number} index */
function definition(index) {
  const serial = index + 1;
  return {
    name: `get_price_${serial}`,
    description: `Returns the latest price of a symbol on exchange ${serial}, with currency and time; use it before an order is placed there.`,
    inputSchema: {
      type: 'object',
      properties: {
        symbol: {
          type: 'string',
          description: 'Symbol to look up',
          default: 'BTC',
          examples: ['BTC', 'ETH'],
        },
      },
      required: [],
    },
    outputSchema: {
      type: 'object',
      properties: {
        symbol: { type: ['string', 'null'], description: 'The symbol' },
        price: { type: ['number', 'null'], description: 'Latest price' },
        currency: { type: ['string', 'null'], description: 'Currency of the price' },
        updatedAt: { type: ['string', 'null'], description: 'Time of the price' },
      },
      required: ['symbol', 'price', 'currency', 'updatedAt'],
    },
  };
}

/**
 * The size of a directory without `.git`.
 *
 * @param {string} directory
 */
export function sizeOf(directory) {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !/[\\/]\.git([\\/]|$)/.test(entry.parentPath),
  );
  const bytes = files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  return { files: files.length, bytes };
}
