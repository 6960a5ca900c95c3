import type { PackageManager } from '../questions/package-managers.ts';

/** The commands of one package manager in a project's scripts, README, Dockerfile and workflow. */
export interface PackageManagerCommands {
  readonly name: PackageManager;
  readonly install: string;
  /** Installs the exact contents of the lock file. */
  readonly frozenInstall: string;
  /** Adds a development dependency, whose name follows. */
  readonly addDev: string;
  /** Installs the package manager on a machine with only Node and npm; null if nothing is needed. */
  readonly setup: string | null;
  readonly run: string;
  /** Installs the contents of the lock file without development dependencies. */
  readonly productionInstall: string;
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

const yarn: PackageManagerCommands = {
  name: 'yarn',
  install: 'yarn install',
  frozenInstall: 'yarn install --frozen-lockfile',
  addDev: 'yarn add --dev',
  setup: 'npm install --global --force yarn@1',
  run: 'yarn run',
  productionInstall: 'yarn install --frozen-lockfile --production',
  market: 'yarn market-mcp',
  inspect: 'yarn run dev --inspect',
  lockFile: 'yarn.lock',
  installFiles: 'package.json yarn.lock .yarnrc.yml',
};

export const packageManagerCommands: CommandTable = {
  npm: {
    name: 'npm',
    install: 'npm install',
    frozenInstall: 'npm ci',
    addDev: 'npm install --save-dev',
    setup: null,
    run: 'npm run',
    productionInstall: 'npm ci --omit=dev',
    market: 'npx market-mcp',
    inspect: 'npm run dev -- --inspect',
    lockFile: 'package-lock.json',
    installFiles: 'package.json package-lock.json',
  },
  pnpm: {
    name: 'pnpm',
    install: 'pnpm install',
    frozenInstall: 'pnpm install --frozen-lockfile',
    addDev: 'pnpm add --save-dev',
    setup: 'npm install --global pnpm',
    run: 'pnpm run',
    productionInstall: 'pnpm install --frozen-lockfile --prod',
    market: 'pnpm exec market-mcp',
    inspect: 'pnpm run dev --inspect',
    lockFile: 'pnpm-lock.yaml',
    installFiles: 'package.json pnpm-lock.yaml',
  },
  yarn,
  berry: {
    ...yarn,
    frozenInstall: 'yarn install --immutable',
    setup: `npm install --global --force @yarnpkg/cli-dist@$(node -p "require('./package.json').packageManager.split(/[@+]/)[1]")`,
    productionInstall: 'yarn workspaces focus --production',
  },
  bun: {
    name: 'bun',
    install: 'bun install',
    frozenInstall: 'bun install --frozen-lockfile',
    addDev: 'bun add --dev',
    setup: 'npm install --global bun',
    run: 'bun run',
    productionInstall: 'bun install --frozen-lockfile --production',
    market: 'bunx market-mcp',
    inspect: 'bun run dev --inspect',
    lockFile: 'bun.lock',
    installFiles: 'package.json bun.lock',
  },
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
