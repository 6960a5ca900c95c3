import { loadAll } from 'js-yaml';
import { expect } from 'vitest';
import { targets } from '../../src/questions/targets.ts';
import { fileOf } from '../render/target-files.ts';

/** What the tests read of the objects; kubernetes-models has their whole types. */
export type Labels = Readonly<Record<string, string>>;
export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold?: number;
}
interface ContainerPort {
  readonly name: string;
  readonly containerPort: number;
}
export interface Container {
  readonly name: string;
  readonly image: string;
  /** That of callers, that of metrics. */
  readonly ports: readonly [ContainerPort, ContainerPort];
  readonly envFrom: readonly { readonly [kind: string]: { readonly name: string } }[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: {
      readonly secretKeyRef: { readonly name: string; readonly key: string };
      readonly fieldRef?: { readonly fieldPath: string };
    };
  }[];
  readonly resources: { readonly requests: Labels };
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}
interface Selector {
  readonly matchLabels: Labels;
}
export interface Objects {
  readonly ConfigMap: { readonly metadata: { readonly name: string }; readonly data: Labels };
  readonly Deployment: {
    readonly metadata: { readonly name: string };
    readonly spec: {
      readonly selector: Selector;
      readonly template: {
        readonly metadata: { readonly labels: Labels };
        readonly spec: {
          readonly terminationGracePeriodSeconds: number;
          readonly securityContext: { readonly runAsUser: number };
          readonly topologySpreadConstraints: readonly { readonly labelSelector: Selector }[];
          readonly containers: readonly [Container];
        };
      };
    };
  };
  readonly HorizontalPodAutoscaler: {
    readonly spec: {
      readonly scaleTargetRef: unknown;
      readonly minReplicas: number;
      readonly metrics: readonly [{ readonly resource: { readonly name: string } }];
    };
  };
  readonly PodDisruptionBudget: {
    readonly spec: { readonly selector: Selector; readonly maxUnavailable: number };
  };
  readonly Service: {
    readonly metadata: { readonly name: string };
    readonly spec: {
      readonly selector: Labels;
      readonly ports: readonly [{ readonly name: string; readonly targetPort: string }];
    };
  };
  readonly Ingress: {
    readonly metadata: { readonly annotations: Labels };
    readonly spec: {
      readonly tls: readonly [{ readonly hosts: readonly string[] }];
      readonly rules: readonly [
        {
          readonly host: string;
          readonly http: { readonly paths: readonly [{ readonly backend: unknown }] };
        },
      ];
    };
  };
  readonly NetworkPolicy: {
    readonly spec: {
      readonly podSelector: Selector;
      readonly ingress: readonly [
        { readonly ports: readonly [{ readonly port: string }] },
        { readonly ports: readonly { readonly port: string }[]; readonly from: readonly object[] },
      ];
      readonly egress: readonly {
        readonly ports?: readonly { readonly port: number; readonly protocol: string }[];
        readonly to?: readonly {
          readonly ipBlock?: { readonly cidr: string; readonly except: readonly string[] };
        }[];
      }[];
    };
  };
}

export const podMonitorFile = 'kubernetes/pod-monitor.yaml';
const [kustomization, ...furtherFiles] = targets.kubernetes.files;
export const kustomizationFile = kustomization;
/** Those whose kinds each cluster has. */
export const objectFiles = furtherFiles.filter((file) => file !== podMonitorFile);
/** The objects of the files of a project, in their order. */
export const objects = objectFiles.flatMap(
  (file) => loadAll(fileOf(file)) as { kind: string; apiVersion: string }[],
);
/** The one object of a kind. */
export function named<Kind extends keyof Objects>(kind: Kind, among: readonly { kind: string }[] = objects) {
  const found = among.filter((one) => one.kind === kind);
  expect(found, kind).toHaveLength(1);
  return found[0] as unknown as Objects[Kind];
}
