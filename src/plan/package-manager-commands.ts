import type { PackageManager } from '../questions/package-managers.ts';

/** The commands of one package manager in a project's scripts, README, Dockerfile and workflow. */
export interface PackageManagerCommands {
  readonly name: PackageManager;
  readonly install: string;
  /** Also installs the development dependencies, such as the compiler, where a configuration such as `omit=dev` excludes them. */
  readonly completeInstall: string;
  /** Installs the exact contents of the lock file. */
  readonly frozenInstall: string;
  /** Adds a development dependency, whose name follows. */
  readonly addDev: string;
  /** Installs the package manager on a machine with only Node and npm; null if nothing is needed. */
  readonly setup: string | null;
  readonly run: string;
  /** Installs the contents of the lock file without development dependencies. */
  readonly productionInstall: string;
  /** The commands of a member of a workspace where the lock file is missing, as in its image. */
  readonly unlocked: { readonly install: string; readonly productionInstall: string };
  /** Runs the `market-mcp` that is installed in the project. */
  readonly market: string;
  /** Runs the server with an inspector port for a debugger. */
  readonly inspect: string;
  readonly lockFile: string;
  /** The files that an install reads. */
  readonly installFiles: string;
}

/** The commands of each package manager; `berry` are those of Yarn 2 and later, absent in archives of versions that have none. */
export type CommandTable = { readonly [name in PackageManager]: PackageManagerCommands } & {
  readonly berry?: PackageManagerCommands;
};

/** The commands that most package managers have, and the special ones. */
function commands(
  name: PackageManager,
  lockFile: string,
  differences: Partial<PackageManagerCommands> & Pick<PackageManagerCommands, 'market'>,
): PackageManagerCommands {
  return {
    name,
    install: `${name} install`,
    completeInstall: `${name} install`,
    frozenInstall: `${name} install --frozen-lockfile`,
    addDev: `${name} add --dev`,
    setup: `npm install --global ${name}`,
    run: `${name} run`,
    productionInstall: `${name} install --frozen-lockfile --production`,
    unlocked: { install: `${name} install`, productionInstall: `${name} install --production` },
    inspect: `${name} run dev --inspect`,
    lockFile,
    installFiles: `package.json ${lockFile}`,
    ...differences,
  };
}

const yarn = commands('yarn', 'yarn.lock', {
  setup: 'npm install --global --force yarn@1',
  market: 'yarn market-mcp',
  installFiles: 'package.json yarn.lock .yarnrc.yml',
});

export const packageManagerCommands: CommandTable = {
  npm: commands('npm', 'package-lock.json', {
    completeInstall: 'npm install --include=dev',
    frozenInstall: 'npm ci',
    addDev: 'npm install --save-dev',
    setup: null,
    productionInstall: 'npm ci --omit=dev',
    unlocked: { install: 'npm install', productionInstall: 'npm install --omit=dev' },
    market: 'npx market-mcp',
    inspect: 'npm run dev -- --inspect',
  }),
  pnpm: commands('pnpm', 'pnpm-lock.yaml', {
    completeInstall: 'pnpm install --prod=false',
    addDev: 'pnpm add --save-dev',
    productionInstall: 'pnpm install --frozen-lockfile --prod',
    unlocked: {
      install: 'pnpm install --no-frozen-lockfile',
      productionInstall: 'pnpm install --no-frozen-lockfile --prod',
    },
    market: 'pnpm exec market-mcp',
  }),
  yarn,
  berry: {
    ...yarn,
    frozenInstall: 'yarn install --immutable',
    setup: `npm install --global --force @yarnpkg/cli-dist@$(node -p "require('./package.json').packageManager.split(/[@+]/)[1]")`,
    productionInstall: 'yarn workspaces focus --production',
    unlocked: {
      install: 'yarn install --no-immutable',
      productionInstall: 'yarn workspaces focus --production',
    },
  },
  bun: commands('bun', 'bun.lock', { market: 'bunx market-mcp' }),
};

/**
 * The commands of a package manager.
 *
 * @param version as it was found; null if it is not known
 */
export function commandsOf(
  name: PackageManager,
  version: string | null,
  table = packageManagerCommands,
): PackageManagerCommands {
  const isBerry = name === 'yarn' && version !== null && !/^[01]\./.test(version);
  return (isBerry ? table.berry : undefined) ?? table[name];
}

/**
 * The commands in a member of a workspace, whose lock file is at the root of the workspace.
 *
 * @param root path from the member to the root
 */
export function inWorkspace(commands: PackageManagerCommands, root: string): PackageManagerCommands {
  return { ...commands, lockFile: `${root}/${commands.lockFile}` };
}

/** How the image of a project installs its packages. */
export interface ImageCommands {
  /** The files that an install reads. */
  readonly files: string;
  readonly install: string;
  readonly productionInstall: string;
}

/** @param isMember whether the project belongs to a workspace: the image then sees no lock file */
export function imageCommands(commands: PackageManagerCommands, isMember: boolean): ImageCommands {
  const { installFiles, frozenInstall, productionInstall, lockFile, unlocked } = commands;
  if (!isMember) return { files: installFiles, install: frozenInstall, productionInstall };
  const files = installFiles.split(' ').filter((file) => file !== lockFile);
  return { files: files.join(' '), ...unlocked };
}
