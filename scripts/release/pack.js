import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { load } from '../load.js';
import { packages, repositoryUrl } from './names.js';
import { partsList } from './sbom.js';

const root = join(import.meta.dirname, '../..');

/**
 * Writes to a directory what a release consists of: the packed contract, runtime and program in their published form, the list of what
 * is inside them (CycloneDX), and the checksums. The same sources give the same bytes. Builds in a copy: the checkout stays as it is.
 *
 * @param {string} directory
 */
export async function packRelease(directory) {
  const out = resolve(directory);
  mkdirSync(out, { recursive: true });
  if (readdirSync(out).length > 0)
    throw new Error(`${directory} is not empty: a release goes into an empty directory.`);
  const copy = mkdtempSync(join(tmpdir(), 'market-mcp-pack-'));
  try {
    copyCheckout(copy);
    for (const { place } of packages) removeCloneParts(join(copy, place, 'README.md'));
    execFileSync(process.execPath, ['build.js', '--published'], { cwd: copy, stdio: 'inherit' });
    const { packContract, packProgram, packRuntime } = await load('src/project/package/pack.ts');
    const packers = [packContract, packRuntime, packProgram];
    for (const [at, { name, version, place }] of packages.entries()) {
      const { content } = packers[at](copy, metadataOf(place));
      writeFileSync(join(out, `${name}-${version}.tgz`), content);
    }
    writeFileSync(join(out, 'sbom.cdx.json'), partsList(copy));
  } finally {
    rmSync(copy, { recursive: true });
  }
  const sums = readdirSync(out)
    .sort()
    .map((file) => {
      const sum = createHash('sha256')
        .update(readFileSync(join(out, file)))
        .digest('hex');
      return `${sum}  ${file}\n`;
    });
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
}

/** Copies the files that git knows or would add, and lends the installed packages. */
function copyCheckout(/** @type {string} */ copy) {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    maxBuffer: 2 ** 28,
  });
  for (const path of listed.toString().split('\0')) {
    if (path === '' || /^(test|bench)\/|^node_modules$/.test(path) || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
}

/** Removes the parts of a README that help only in a clone. */
function removeCloneParts(/** @type {string} */ file) {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(/<!-- clone: [^>]*-->\n[\s\S]*?<!-- end of clone -->\n\n?/g, ''));
}

/** Where a published package comes from, which npm compares with the statement of provenance. */
function metadataOf(/** @type {string} */ place) {
  const url = repositoryUrl();
  const directory = place === '.' ? {} : { directory: place };
  return {
    repository: { type: 'git', url: `git+${url}.git`, ...directory },
    homepage: place === '.' ? `${url}#readme` : `${url}/tree/main/${place}#readme`,
    bugs: { url: `${url}/issues` },
  };
}
