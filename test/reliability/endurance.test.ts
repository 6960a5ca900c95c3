import { expect, it } from 'vitest';
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

const requests = process.env.NIGHTLY ? 200_000 : 40_000;
const connections = 64;
/** After these requests, the server's code is compiled and its caches are full. */
const warmUp = 50_000;
/** Resident memory is measured after every interval, under load. */
const interval = requests / 8;
/** Some sessions that have ended: the first one allocates the filter for all. */
const endedSessions = 10_000;
/** In bytes, between two idle moments: a leak of 14 bytes per request exceeds it. */
const mostGrowth = 2_000_000;
/** The allocator keeps and returns pages at its own discretion. */
const mostResidentGrowth = 1.5;
const openStreams = 16;
/** For immediate events, on a machine that may be busy. */
const timeoutMs = 30_000;

const root = scratch();

it(`serves ${requests} requests of every kind from ${connections} connections without leaks`, async () => {
  const directory = await authorProject('endurance', echoTools, root);
  const server = await startServer(directory, {
    ALLOWED_ORIGINS: allowedOrigin,
    CALL_TIMEOUT_MS: '3000',
    MAX_TOKEN_SECONDS: '7200',
    REQUEST_TIMEOUT_MS: '5000',
  });
  try {
    await endure(server);
  } finally {
    server.kill();
  }
});

async function endure(server: ServerProcess): Promise<void> {
  const started = performance.now();
  const measuring: Promise<Memory>[] = [];
  const tally = new Tally(interval, () => measuring.push(server.memory()));
  const world = await createWorld(server.port, server.signer, tally);
  const callers = Array.from(
    { length: connections },
    (_, index) => new Caller(world, String(index), randomFrom(seed + index)),
  );
  const course: Course = { runs: new Map(), incidents: [] };

  await endSessions(callers, endedSessions);
  await sendTraffic(callers, warmUp, course);
  const warm = await server.memory();
  await sendTraffic(callers, requests, course);
  const end = await server.memory();
  const seconds = (performance.now() - started) / 1000;
  const lastErrors = server.written.errors.filter((line) => !isIntended(line)).slice(-20);
  expect(course.incidents, lastErrors.join('\n')).toEqual([]);
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

  const resident = (await Promise.all(measuring)).map(({ rss }) => rss);
  const [early, late] = [Math.max(...resident.slice(1, 4)), Math.max(...resident.slice(4))];
  record('endurance', {
    seed,
    requests: tally.requests,
    connections,
    kinds: kinds.length,
    seconds: Math.round(seconds),
    requestsPerSecond: Math.round(tally.requests / seconds),
    statuses: Object.fromEntries([...tally.statuses].sort(([a], [b]) => a - b)),
    heap: { warm: megabytes(warm.heapUsed), end: megabytes(end.heapUsed) },
    resident: { early: megabytes(early), late: megabytes(late) },
  });
  expect(end.heapUsed + end.external - warm.heapUsed - warm.external).toBeLessThan(mostGrowth);
  expect(late).toBeLessThan(early * mostResidentGrowth);
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
