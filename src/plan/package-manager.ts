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

export const packageManagerCommands: { readonly [name in PackageManager]: PackageManagerCommands } = {
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
  yarn: {
    name: 'yarn',
    install: 'yarn install',
    frozenInstall: 'yarn install --frozen-lockfile',
    addDev: 'yarn add --dev',
    setup: null,
    run: 'yarn run',
    productionInstall: 'yarn install --frozen-lockfile --production',
    market: 'yarn market-mcp',
    inspect: 'yarn run dev --inspect',
    lockFile: 'yarn.lock',
    installFiles: 'package.json yarn.lock .yarnrc.yml',
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
