import ours from '../../package.json' with { type: 'json' };

/** Version of this program, which is also the version of its templates. */
export const version: string = ours.version;

/** `owner/name` at GitHub. */
export const repositoryName: string = new URL(ours.repository.url.replace('git+', '')).pathname.slice(1, -4);

/** The package of this program. */
export const programPackage = 'create-market-mcp';

/** The package that a project's server runs with. It has the version of this program. */
export const runtimePackage = 'market-mcp-runtime';

/** The major version of Node in the images and in the workflow of a project. */
export const imageNode = 24;

/** What the runtime needs in projects whose tools call an API, in the versions that this package is developed and tested with. */
export const sourceDependencies = pick(['ky', 'lru-cache', 'p-queue'] as const);

/** What `src/redis.ts` of a project needs. */
export const redisDependencies = pick(['ioredis'] as const);

/** What the compilation of a project needs. */
export const devDependencies = pick(['@types/node', 'typescript'] as const);

function pick<Name extends keyof typeof ours.devDependencies>(names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, ours.devDependencies[name]]));
}
