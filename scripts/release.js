import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireReleasable } from './release/names.js';
import { publish } from './release/publish.js';

// The steps of a release; docs/release.md says when each is run.
//   npm run release -- ready <tag>            what must be true before anything is built
//   npm run release -- pack <directory>       the files of a release; the checkout stays as it is
//   npm run release -- publish <directory>    to the registry: what is there already is skipped
//   npm run release -- --dry-run --registry <url>    pack and publish, to a registry on this machine
const usage =
  'Usage: npm run release -- ready <tag> | pack <directory> | publish <directory> | --dry-run --registry <url>';

/** Packing needs the packages of the checkout, publishing none: the job that publishes installs nothing. */
async function pack(/** @type {string} */ directory) {
  const { packRelease } = await import('./release/pack.js');
  return packRelease(directory);
}

async function main(/** @type {readonly string[]} */ [command, argument, ...rest]) {
  if (command === 'ready' && argument !== undefined) return requireReleasable(argument);
  if (command === 'pack' && argument !== undefined) return pack(argument);
  if (command === 'publish' && argument !== undefined && rest.length === 0) {
    requireReleasable();
    return publish(argument, { provenance: true });
  }
  if (command !== '--dry-run' || argument !== '--registry' || rest.length !== 1) throw new Error(usage);
  const [registry = ''] = rest;
  const { hostname } = new URL(registry);
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
    throw new Error(
      `--registry ${registry}: a dry run publishes to this machine alone, such as http://127.0.0.1:4873/`,
    );
  const directory = mkdtempSync(join(tmpdir(), 'market-mcp-release-'));
  try {
    await pack(directory);
    return await publish(directory, { registry, provenance: false });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = 1;
  console.error(error instanceof Error ? error.message : error);
}
