import { beforeAll, expect, it } from 'vitest';
import { scratch } from '../e2e/support.ts';
import { randomFrom, seed } from '../random.ts';
import { authorProject } from './authored.ts';
import { Caller, Tally } from './endurance/caller.ts';
import { stream } from './endurance/connections.ts';
import { echoTools } from './endurance/echo-tools.ts';
import { allowedOrigin } from './endurance/refusals.ts';
import { type Course, createWorld, endSessions, kinds, sendTraffic } from './endurance/traffic.ts';
import { record } from './figures.ts';
import { type Memory, type ServerProcess, startServer } from './server.ts';

/** Sent before memory is compared: code is compiled, caches are full, and the young generation has its size. */
const warmUp = 40_000;
/** Sent while it is. */
const requests = process.env.NIGHTLY ? 160_000 : 40_000;
const connections = 64;
/** Memory is measured after every interval, under load. */
const interval = requests / 8;
/** Some sessions that have ended: the first one allocates the filter for all. */
const endedSessions = 10_000;
/** In bytes, between two idle moments: with `npm run docs reliability`, a leak of 13 bytes per request exceeds it. */
const maxGrowth = 2_000_000;
/**
 * In bytes, in the median interval. What is resident and neither V8's heap nor a buffer is that of the C allocator, which keeps
 * and returns pages at its own discretion, in steps; a leak grows in every interval.
 */
const maxNativeGrowth = 2_500_000;
const openStreams = 16;
/** For immediate events, on a machine that may be busy. */
const timeoutMs = 30_000;

const root = scratch();
let directory: string;

beforeAll(async () => {
  directory = await authorProject('endurance', echoTools, root);
});

it(`serves ${warmUp + requests} requests of every kind from ${connections} connections without leaks`, async () => {
  await serve({}, async (server) => {
    const started = performance.now();
    const traffic = await endure(server, warmUp);
    const seconds = (performance.now() - started) / 1000;
    const { callers, course, tally } = traffic;
    expect([...course.runs.keys()].sort()).toEqual(kinds.map(({ name }) => name).sort());

    for (const caller of callers) caller.drop();
    await expect.poll(async () => (await server.memory()).sockets, { timeout: timeoutMs }).toBe(0);
    await stopInTheMiddle(server, callers);
    const { events, improper, errors } = server.written;
    expect(improper).toEqual([]);
    const [failures, others] = [errors.filter(isIntended), errors.filter((line) => !isIntended(line))];
    expect(failures).toHaveLength(course.runs.get('call: failure') ?? 0);
    expect(others.filter((line) => !isCancelled(line))).toEqual([]);
    expect(events.get('incident')).toBe(course.runs.get('call: wrong answer'));

    const { warm, end, series } = traffic;
    record('endurance', {
      seed,
      requests: tally.requests,
      connections,
      kinds: kinds.length,
      seconds: Math.round(seconds),
      requestsPerSecond: Math.round(tally.requests / seconds),
      statuses: Object.fromEntries([...tally.statuses].sort(([a], [b]) => a - b)),
      heap: { warm: megabytes(warm.heapUsed), end: megabytes(end.heapUsed) },
      resident: series.map(({ rss }) => megabytes(rss)),
      native: series.map((memory) => megabytes(nativeOf(memory))),
    });
    expect(growth(traffic)).toBeLessThan(maxGrowth);
    expect(nativeGrowth(traffic)).toBeLessThan(maxNativeGrowth);
  });
});

it.each(['buffer', 'native'])('finds a %s leak of a kilobyte per request', async (leak) => {
  await serve({ LEAK: leak }, async (server) => {
    const traffic = await endure(server, 0);
    console.log(`${leak}: ${traffic.series.map((memory) => megabytes(nativeOf(memory)))}`);
    if (leak === 'buffer') expect(growth(traffic)).toBeGreaterThan(maxGrowth);
    else expect(nativeGrowth(traffic)).toBeGreaterThan(maxNativeGrowth);
  });
});

async function serve(
  env: Readonly<Record<string, string>>,
  use: (server: ServerProcess) => Promise<void>,
): Promise<void> {
  const server = await startServer(directory, {
    ALLOWED_ORIGINS: allowedOrigin,
    CALL_TIMEOUT_MS: '3000',
    MAX_TOKEN_SECONDS: '7200',
    REQUEST_TIMEOUT_MS: '5000',
    ...env,
  });
  try {
    await use(server);
  } finally {
    server.kill();
  }
}

/** Memory in idle moments before and after the traffic, and after each of its intervals. */
interface Traffic {
  readonly warm: Memory;
  readonly end: Memory;
  readonly series: readonly Memory[];
  readonly callers: readonly Caller[];
  readonly course: Course;
  readonly tally: Tally;
}

/** @param before requests before memory is measured; with 0, no session is ended either */
async function endure(server: ServerProcess, before: number): Promise<Traffic> {
  const measuring: Promise<Memory>[] = [];
  const tally = new Tally(interval, () => measuring.push(server.memory()));
  const world = await createWorld(server.port, server.signer, tally);
  const callers = Array.from(
    { length: connections },
    (_, index) => new Caller(world, String(index), randomFrom(seed + index)),
  );
  const course: Course = { runs: new Map(), incidents: [] };

  if (before > 0) await endSessions(callers, endedSessions);
  await sendTraffic(callers, before, course);
  const warm = await server.memory();
  measuring.length = 0;
  await sendTraffic(callers, tally.requests + requests, course);
  const end = await server.memory();
  const lastErrors = server.written.errors.filter((line) => !isIntended(line)).slice(-20);
  expect(course.incidents, lastErrors.join('\n')).toEqual([]);
  return { warm, end, series: await Promise.all(measuring), callers, course, tally };
}

function growth({ warm, end }: Traffic): number {
  return end.heapUsed + end.external - warm.heapUsed - warm.external;
}

function nativeGrowth({ series }: Traffic): number {
  const native = series.map(nativeOf);
  const steps = native.slice(1).map((bytes, index) => bytes - (native[index] as number));
  return steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)] as number;
}

function nativeOf({ rss, heapTotal, external }: Memory): number {
  return rss - heapTotal - external;
}

/** A tool logs why its source failed. */
function isIntended(line: string): boolean {
  return line === 'echo_text Error: the source is down';
}

/** It also does if the signal ended a call: its deadline passed, or its caller disconnected. */
function isCancelled(line: string): boolean {
  return /^echo_later (DOMException \[)?AbortError/.test(line);
}

/** Sends SIGTERM while streams are open and a call runs: all of them must end gracefully, and the process must exit with 0. */
async function stopInTheMiddle(server: ServerProcess, callers: readonly Caller[]): Promise<void> {
  const [first, second, ...others] = callers as [Caller, Caller, ...Caller[]];
  await first.ask('ping');
  const streams = await Promise.all(others.slice(0, openStreams).map(stream));
  const running = first.call('echo_later', { nonce: first.nonce(), ms: 500 });
  await second.ask('ping');
  server.signal('SIGTERM');
  expect((await running).isError).toBeUndefined();
  await Promise.all(streams.map(({ ended }) => ended));
  expect(await server.exit).toEqual({ code: 0, signal: null });
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10;
}
