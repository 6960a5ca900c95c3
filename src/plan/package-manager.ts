import type { PackageManager } from '../questions/package-managers.ts';

/** How a project's scripts, README, Dockerfile and workflow call one package manager. */
export interface PackageManagerCommands {
  readonly name: PackageManager;
  readonly install: string;
  /** Installs exactly what the lock file says. */
  readonly frozenInstall: string;
  /** Makes the package manager available where only Node and npm are; null where it is there already. */
  readonly setup: string | null;
  readonly run: string;
  /** Installs what the lock file says, without development dependencies. */
  readonly productionInstall: string;
  /** Calls the `market-mcp` that the project has installed. */
  readonly market: string;
  /** Runs the server so that a debugger can attach to it. */
  readonly inspect: string;
  readonly lockFile: string;
  /** The files an install reads. */
  readonly installFiles: string;
}

export const packageManagerCommands: { readonly [name in PackageManager]: PackageManagerCommands } = {
  npm: {
    name: 'npm',
    install: 'npm install',
    frozenInstall: 'npm ci',
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
    setup: null,
    run: 'yarn run',
    productionInstall: 'yarn install --frozen-lockfile --production',
    market: 'yarn market-mcp',
    inspect: 'yarn run dev --inspect',
    lockFile: 'yarn.lock',
    installFiles: 'package.json yarn.lock .yarnrc.yml',
  },
};
