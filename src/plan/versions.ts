import ours from '../../package.json' with { type: 'json' };

/** Version of this program, which is also the version of its templates. */
export const version: string = ours.version;

/** The dependencies of a generated server, in exactly the versions that this package is developed and tested with. */
export const dependencies = pick(['ajv', 'ajv-formats', 'jose', 're2js'] as const);

/** The dependencies of the source kit. */
export const sourceDependencies = pick(['ky', 'lru-cache', 'p-queue'] as const);

/** The dependencies of its compilation. */
export const devDependencies = pick(['@types/node', 'typescript'] as const);

function pick<Name extends keyof typeof ours.devDependencies>(names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, ours.devDependencies[name]]));
}
