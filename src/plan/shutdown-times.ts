import type { DeployTarget } from '../questions/targets.ts';

/** How long the end of a server takes at a deployment target. */
export interface ShutdownTimes {
  /** DRAIN_MS: the time in which the host learns from `/ready` that it should send no more calls. */
  readonly drainMs: number;
  /** SHUTDOWN_GRACE_MS: the time from SIGTERM to the end of the process. */
  readonly graceMs: number;
  /** The time after which the host kills the process, in seconds. */
  readonly limitSeconds: number;
}

interface Host {
  readonly drainMs: number;
  /** The longest limit that the host accepts, in seconds; absent if it documents none. */
  readonly maximumSeconds?: number;
}

/** The hosts that send SIGTERM and later kill the process. docs/deploy.md names the source of each maximum. */
const hosts = {
  docker: { drainMs: 2_500 },
  compose: { drainMs: 2_500 },
  railway: { drainMs: 2_500 },
  render: { drainMs: 2_500, maximumSeconds: 300 },
  fly: { drainMs: 2_500, maximumSeconds: 300 },
  // A cluster needs some seconds until all its proxies send no more calls to a pod that ends.
  kubernetes: { drainMs: 5_000 },
} as const satisfies { readonly [name in DeployTarget]?: Host };

/** A platform that waits for less time gives CALL_TIMEOUT_MS half of it, not two seconds less. */
const leastCallMs = 4_000;
/** How much longer the host waits than the server takes. */
const reserveSeconds = 5;
/** The maximum of SHUTDOWN_GRACE_MS. */
const maximumGraceSeconds = 600;

/**
 * Returns the times of each host: DRAIN_MS + CALL_TIMEOUT_MS + 2 seconds, in whole seconds, within the maximum of the host.
 *
 * @param callMs how long the platform waits for a call: two seconds longer than CALL_TIMEOUT_MS
 */
export function shutdownTimes(callMs: number): { readonly [name in keyof typeof hosts]: ShutdownTimes } {
  const timesOf = ({ drainMs, maximumSeconds = Number.POSITIVE_INFINITY }: Host): ShutdownTimes => {
    const neededSeconds = Math.ceil((drainMs + Math.max(callMs, leastCallMs)) / 1_000);
    const graceSeconds = Math.min(neededSeconds, maximumGraceSeconds, maximumSeconds - reserveSeconds);
    return { drainMs, graceMs: graceSeconds * 1_000, limitSeconds: graceSeconds + reserveSeconds };
  };
  return {
    docker: timesOf(hosts.docker),
    compose: timesOf(hosts.compose),
    railway: timesOf(hosts.railway),
    render: timesOf(hosts.render),
    fly: timesOf(hosts.fly),
    kubernetes: timesOf(hosts.kubernetes),
  };
}
