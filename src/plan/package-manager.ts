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
  /** Installed without development dependencies, after a full install. */
  readonly prune: string;
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
    prune: 'npm prune --omit=dev',
    lockFile: 'package-lock.json',
    installFiles: 'package.json package-lock.json',
  },
  pnpm: {
    name: 'pnpm',
    install: 'pnpm install',
    frozenInstall: 'pnpm install --frozen-lockfile',
    setup: 'npm install --global pnpm',
    run: 'pnpm run',
    prune: 'pnpm prune --prod',
    lockFile: 'pnpm-lock.yaml',
    installFiles: 'package.json pnpm-lock.yaml',
  },
  yarn: {
    name: 'yarn',
    install: 'yarn install',
    frozenInstall: 'yarn install --frozen-lockfile',
    setup: null,
    run: 'yarn run',
    prune: 'yarn install --frozen-lockfile --production',
    lockFile: 'yarn.lock',
    installFiles: 'package.json yarn.lock .yarnrc.yml',
  },
};
