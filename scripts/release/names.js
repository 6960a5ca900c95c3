import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * The packages of a release in the order in which they are published: each needs those before it. Their names stand in their
 * package.json alone.
 */
export const packages = ['packages/contract', 'packages/runtime', '.'].map((place) => {
  const { name, version, repository } = JSON.parse(readFileSync(join(root, place, 'package.json'), 'utf8'));
  return { place, name: String(name), version: String(version), repository };
});

const [program] = packages.slice(-1);

/** The owner until there is a repository (docs/release.md). */
const noOwner = 'OWNER-NOT-SET';

/** `https://github.com/owner/name`, from the one place that names it. */
export function repositoryUrl() {
  return String(program?.repository.url).replace(/^git\+|\.git$/g, '');
}

/**
 * @param {string} [tag] of the version, such as v0.4.0
 * @throws Error with everything that keeps this checkout from being published
 */
export function requireReleasable(tag) {
  const version = program?.version;
  const problems = packages
    .filter((one) => one.version !== version)
    .map(
      ({ place }) => `${place}/package.json has another version than ${version}. Give all three the same.`,
    );
  if (tag !== undefined && tag !== `v${version}`)
    problems.push(`The tag ${tag} is not that of the version ${version}: it must be v${version}.`);
  if (repositoryUrl().includes(noOwner))
    problems.push(
      `package.json names no repository. Write its owner in place of ${noOwner}: npm refuses provenance without it.`,
    );
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  if (!changelog.includes(`## ${version}`)) problems.push(`CHANGELOG.md has no section "## ${version}".`);
  problems.push(...lockProblems(), ...archiveProblems(changelog));
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** The versions that package-lock.json records of the packages of a release. */
function lockProblems() {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return packages
    .filter(({ place, version }) => lock.packages[place === '.' ? '' : place]?.version !== version)
    .map(
      ({ name, version }) =>
        `package-lock.json does not have ${name} ${version}. Run: npm install --package-lock-only`,
    );
}

/** Without the archive of the version before, no project of that version can be upgraded. */
function archiveProblems(/** @type {string} */ changelog) {
  const versions = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)$/gm)].map(([, version]) => version);
  const previous = versions[versions.indexOf(String(program?.version)) + 1];
  if (previous === undefined || existsSync(join(root, `releases/${previous}.br`))) return [];
  return [
    `releases/${previous}.br is missing: the archive of the version before. Write it: node scripts/archive-release.js <commit of ${previous}>`,
  ];
}
