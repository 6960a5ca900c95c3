import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { load, loadAll } from 'js-yaml';
import { freePort } from '../ports.ts';
import { base, type Engine, engineRun } from './engine.ts';
import { type Labels, named } from './kubernetes-objects.ts';

/** Why an engine runs no pods. */
export async function whyNoPods(engine: Engine | undefined): Promise<string | undefined> {
  if (engine?.name !== 'podman') return 'only Podman runs a Deployment without a cluster';
  const pod = `market-mcp-check-pod-${process.pid}`;
  try {
    for (const args of [
      ['pod', 'create', '--name', pod],
      ['run', '--rm', '--pod', pod, base, 'true'],
    ]) {
      const { exitCode, stderr } = await engineRun(engine, args);
      if (exitCode !== 0) return String(stderr).trim().split('\n').at(-1) || 'podman runs no pods';
    }
    return undefined;
  } finally {
    await engineRun(engine, ['pod', 'rm', '--force', pod]);
  }
}

/** A pod of a Deployment. */
export interface Pod {
  /** On this machine: a rule asks for https elsewhere. */
  readonly origin: string;
  /** What a shell prints in the container of its server. */
  inside(script: string): Promise<string>;
  remove(): Promise<void>;
}

/**
 * Runs the Deployment of a project with `podman play kube`, with its ConfigMap and with a Secret of these values.
 *
 * @param image that the cluster would get from its registry
 * @throws Error with the output of Podman
 */
export async function playPod(engine: Engine, project: string, image: string, secrets: Labels): Promise<Pod> {
  const read = (file: string) => readFileSync(join(project, 'kubernetes', file), 'utf8');
  const { configMapGenerator } = load(read('kustomization.yaml')) as {
    readonly configMapGenerator: readonly [{ readonly name: string; readonly literals: readonly string[] }];
  };
  const [{ name, literals }] = configMapGenerator;
  const data = Object.fromEntries(literals.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
  const deployment = named('Deployment', loadAll(read('server.yaml')) as { kind: string }[]);
  const { containers } = deployment.spec.template.spec;
  // Podman 4.3 does not know the address of a pod before it runs.
  const env = containers[0].env.map(({ valueFrom, ...one }) =>
    valueFrom?.fieldRef === undefined
      ? { ...one, ...(valueFrom && { valueFrom }) }
      : { ...one, value: '0.0.0.0' },
  );
  // Until 4.3, Podman also binds each port of a container on this machine, to the same number unless another is given.
  const ports = await Promise.all(
    containers[0].ports.map(async (one) => ({ ...one, hostPort: await freePort() })),
  );
  Object.assign(containers[0], { image, env, ports });

  const run = (...args: readonly string[]) => execa(engine.name, args, { env: engine.env });
  /** Podman reads no socket, which the standard input of a child process is here. */
  const fileOf = (file: string, text: string) => {
    const path = join(project, file);
    writeFileSync(path, text);
    return path;
  };
  const encoded = Object.entries(secrets).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  const values = Object.fromEntries(encoded);
  // Until 4.3, Podman keeps the values of a Secret alone.
  const { stdout: version } = await run('--version');
  const isOld = /version ([123]|4\.[0-3])\./.test(version);
  const secret = isOld ? values : { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: values };
  await run('secret', 'create', name, fileOf('secret.json', JSON.stringify(secret)));
  const objects = [configMap, deployment].map((one) => JSON.stringify(one)).join('\n---\n');
  const file = fileOf('pod.yaml', objects);
  const remove = async () => {
    await run('play', 'kube', '--down', file); // also what a start that failed has left
    await run('secret', 'rm', name);
  };
  try {
    const { stdout } = await run('play', 'kube', file);
    const [, id = ''] = /^Pod:\n(\w+)$/m.exec(stdout) ?? [];
    const infra = await run('pod', 'inspect', '--format', '{{.InfraContainerID}}', id);
    const networks = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}';
    const { stdout: addresses } = await run('inspect', '--format', networks, infra.stdout.trim());
    const [{ containerPort: port }] = containers[0].ports;
    const relay = createServer((socket) => {
      const pod = connect({ host: addresses.trim(), port }).on('error', () => socket.destroy());
      socket
        .on('error', () => pod.destroy())
        .pipe(pod)
        .pipe(socket);
    });
    await once(relay.listen(0, '127.0.0.1'), 'listening');
    const { port: own } = relay.address() as AddressInfo;
    const removeBoth = async () => {
      relay.close();
      await remove();
    };
    const filters = ['--filter', `pod=${id}`, '--filter', `name=-${containers[0].name}`];
    const { stdout: server } = await run('ps', '--quiet', ...filters);
    const inside = async (script: string) => {
      const { stdout } = await engineRun(engine, ['exec', server.trim(), 'sh', '-c', script]);
      return String(stdout);
    };
    return { inside, origin: `http://127.0.0.1:${own}`, remove: removeBoth };
  } catch (error) {
    await remove();
    throw error;
  }
}
