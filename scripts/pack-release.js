import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

// Usage: npm run release <directory>
// Builds the published form, and writes to the directory what a release consists of: the packed contract, runtime and program,
// and the list of the packages inside them (CycloneDX).

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('Usage: npm run release <directory>');
const out = resolve(directory);
mkdirSync(out, { recursive: true });

execFileSync(process.execPath, ['build.js', '--published'], { stdio: 'inherit' });
for (const place of ['packages/contract/dist', 'packages/runtime/dist']) {
  const packed = readdirSync(place).find((name) => name.endsWith('.tgz'));
  if (packed === undefined) throw new Error(`build.js has written no packed package to ${place}.`);
  copyFileSync(join(place, packed), join(out, packed));
}
// Without scripts: `prepack` would build the form that is not published.
execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', out], { stdio: 'inherit' });
const parts = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
writeFileSync(join(out, 'sbom.cdx.json'), parts);
