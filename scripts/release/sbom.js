import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packages } from './names.js';

/**
 * The packages inside the bundles of a built checkout, as CycloneDX 1.5: those whose licences the packages contain, and which of
 * ours contains each. The same bundles give the same bytes.
 *
 * @param {string} directory
 */
export function partsList(directory) {
  const { version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const own = packages.map(({ name }) => component(name, version, license));
  const inside = packages.map(({ place }) => bundledIn(join(directory, place)));
  const parts = new Map(inside.flat().map((part) => [part.purl, part]));
  const [program] = own.slice(-1);
  const body = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...program, type: 'application' } },
    components: [...own.slice(0, -1), ...[...parts.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1))],
    dependencies: own.map(({ purl }, at) => ({
      ref: purl,
      dependsOn: (inside[at] ?? []).map(({ purl }) => purl).sort(),
    })),
  };
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  const uuid = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5');
  const { bomFormat, specVersion, ...rest } = body;
  return `${JSON.stringify({ bomFormat, specVersion, serialNumber: `urn:uuid:${uuid}`, ...rest }, null, 2)}\n`;
}

/** The packages whose licences `scripts/build/licences.js` has written beside a bundle: `ajv 8.20.0 (MIT)` begins each. */
function bundledIn(/** @type {string} */ place) {
  const titles = readFileSync(join(place, 'dist/LICENSES.txt'), 'utf8').matchAll(
    /^(@?[\w./-]+) (\d+\.\d+\.\d+\S*) \(([^)]+)\)$/gm,
  );
  return [...titles].map(([, name = '', version = '', licence = '']) => component(name, version, licence));
}

/**
 * @param {string} name
 * @param {string} version
 * @param {string} licence identifier or expression of SPDX
 */
function component(name, version, licence) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const licenses = / (AND|OR|WITH) /.test(licence)
    ? [{ expression: licence }]
    : [{ license: { id: licence } }];
  return { type: 'library', 'bom-ref': purl, name, version, licenses, purl };
}
