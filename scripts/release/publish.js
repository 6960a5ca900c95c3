import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { packages } from './names.js';

const run = promisify(execFile);

/** A registry shows what was published after a while: it is asked this often, with pauses that grow to half a minute. */
const attempts = 20;

/**
 * Publishes the packages of a release in their order, and waits until the registry shows all of them. A version that is there
 * with the same content is skipped, so a run that ended halfway is repeated as it was. Needs node and npm alone.
 *
 * @param {string} directory as `packRelease` writes it
 * @param {{ registry?: string, provenance: boolean }} options
 * @throws Error before anything is published if a version is there with other content
 */
export async function publish(directory, { registry, provenance }) {
  const place = resolve(directory);
  requireSums(place);
  const at = registry === undefined ? [] : ['--registry', registry];
  const packed = packages.map(({ name }) => packageIn(place, name));
  const known = new Map();
  for (const { name, version, integrity } of packed) {
    const found = await integrityOf(name, version, at);
    if (found !== undefined && found !== integrity)
      throw new Error(
        `${name}@${version} is in the registry with other content (${found}). Nothing was published: raise the version.`,
      );
    known.set(name, found);
  }
  for (const { name, version, file } of packed) {
    if (known.get(name) !== undefined) {
      console.log(`${name}@${version} is there already`);
      continue;
    }
    const signed = provenance ? ['--provenance'] : [];
    await npm(['publish', file, '--access', 'public', '--ignore-scripts', ...signed, ...at]);
    console.log(`${name}@${version} is published`);
  }
  for (const { name, version, integrity } of packed) await requireShown(name, version, integrity, at);
}

/** @param {string} place */
function requireSums(place) {
  const lines = readFileSync(join(place, 'SHA256SUMS'), 'utf8').trim().split('\n');
  const listed = lines.map((line) => line.split('  '));
  for (const [sum, file = ''] of listed) {
    const actual = createHash('sha256')
      .update(readFileSync(join(place, file)))
      .digest('hex');
    if (actual !== sum)
      throw new Error(`${file} is not what was packed: its checksum differs. Nothing was published.`);
  }
  const unlisted = readdirSync(place).filter(
    (file) => /\.tgz$/.test(file) && !listed.some(([, name]) => name === file),
  );
  if (unlisted.length > 0)
    throw new Error(`${unlisted.join(', ')}: not in SHA256SUMS. Nothing was published.`);
}

/**
 * @param {string} place
 * @param {string} name
 */
function packageIn(place, name) {
  const found = readdirSync(place).flatMap((file) => {
    const [, version] = new RegExp(`^${name}-(\\d.*)\\.tgz$`).exec(file) ?? [];
    return version === undefined ? [] : [{ file: join(place, file), version }];
  });
  const [one, ...others] = found;
  if (one === undefined || others.length > 0)
    throw new Error(`${place} must contain one package of ${name}, it contains ${found.length}.`);
  const integrity = `sha512-${createHash('sha512').update(readFileSync(one.file)).digest('base64')}`;
  return { name, ...one, integrity };
}

/**
 * The content of a version in the registry; undefined if it is not there.
 *
 * @param {string} name
 * @param {string} version
 * @param {readonly string[]} at
 */
async function integrityOf(name, version, at) {
  try {
    const { stdout } = await npm([
      'view',
      `${name}@${version}`,
      'dist.integrity',
      '--json',
      '--prefer-online',
      ...at,
    ]);
    return stdout.trim() === '' ? undefined : String(JSON.parse(stdout));
  } catch (error) {
    const { stderr = '', stdout = '' } = /** @type {{ stderr?: string, stdout?: string }} */ (error);
    if (/\bE404\b/.test(stderr + stdout)) return undefined;
    throw new Error(`npm view ${name}@${version} failed: ${stderr.trim()}`);
  }
}

/**
 * @param {string} name
 * @param {string} version
 * @param {string} integrity
 * @param {readonly string[]} at
 */
async function requireShown(name, version, integrity, at) {
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await setTimeout(Math.min(1000 * 2 ** (attempt - 1), 30_000));
    if ((await integrityOf(name, version, at)) === integrity) {
      console.log(`${name}@${version} can be installed`);
      return;
    }
  }
  throw new Error(
    `The registry does not show ${name}@${version}. Repeat the run: what is published is skipped.`,
  );
}

/** @param {readonly string[]} args */
async function npm(args) {
  try {
    return await run('npm', args, { shell: process.platform === 'win32' });
  } catch (error) {
    const { stderr = '' } = /** @type {{ stderr?: string }} */ (error);
    if (args[0] !== 'publish') throw error;
    const login = /\b(?:ENEEDAUTH|E401)\b/.test(stderr) ? `\nLog in first: ${loginCommand(args)}` : '';
    throw new Error(`npm ${args.join(' ')} failed:\n${stderr.trim()}${login}`);
  }
}

/** A registry on this machine takes any new user. */
function loginCommand(/** @type {readonly string[]} */ args) {
  const at = args.indexOf('--registry');
  return at === -1 ? 'npm login' : `npm adduser --registry ${args[at + 1]}`;
}
