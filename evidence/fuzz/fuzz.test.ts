import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fuzz, fuzzPaid } from '../../test/fuzz/fuzz.ts';
import { measured, writePlace } from '../../test/page.ts';
import { randomFrom, seed } from '../../test/random.ts';
import { startServer } from '../../test/reliability/server.ts';
import { buildProject } from '../../test/runtime/built.ts';

const minutes = Number(process.env.FUZZ_MINUTES ?? 10);
/** Maximum growth of the heap after a full collection, from the first tenth of the run to its end, in bytes. */
const maxGrowth = 4_000_000;

let project: ReturnType<typeof buildProject>;
beforeAll(() => {
  project = buildProject(join(import.meta.dirname, '../../test/fuzz/tools.ts'));
});
afterAll(() => project.remove());

test(`${minutes} minutes of unpaid requests and changed paid calls run no tool unpaid or twice, cause no server error and leak no memory`, async () => {
  const server = await startServer(project.directory, {});
  try {
    const random = randomFrom(seed);
    const runFor = (ms: number) => {
      const until = Date.now() + ms;
      return fuzz(server, random, () => Date.now() < until);
    };
    const first = await runFor(minutes * 6_000);
    const warm = await server.memory();
    const rest = await runFor(minutes * 27_000);
    const paid = first.paid + rest.paid;
    const middle = await server.memory();
    expect(middle.runs).toEqual({ paid });
    const until = Date.now() + minutes * 27_000;
    const changed = await fuzzPaid(server, random, () => Date.now() < until);
    const end = await server.memory();
    expect(
      [first, rest, changed].flatMap(({ failures }) => failures),
      `TEST_SEED=${seed}`,
    ).toEqual([]);
    const changedRuns = Object.values(end.runs ?? {}).reduce((sum, one) => sum + one, -paid);
    expect(changedRuns).toBeGreaterThanOrEqual(changed.answered);
    expect(changedRuns).toBeLessThanOrEqual(changed.sent);
    expect(server.written.improper).toEqual([]);
    expect(server.written.events.get('incident') ?? 0).toBe(0);
    expect(end.heapUsed - warm.heapUsed).toBeLessThan(maxGrowth);
    const unpaid = first.unpaid + rest.unpaid;
    writeFigures({
      unpaid,
      paid,
      changed: { ...changed, runs: changedRuns },
      statuses: rest.statuses,
      warm,
      end,
    });
  } finally {
    server.kill();
    await server.exit;
  }
});

interface Figures {
  readonly unpaid: number;
  readonly paid: number;
  readonly changed: { readonly sent: number; readonly answered: number; readonly runs: number };
  readonly statuses: ReadonlyMap<string, number>;
  readonly warm: { readonly heapUsed: number };
  readonly end: { readonly heapUsed: number; readonly rss: number };
}

function writeFigures({ unpaid, paid, changed, statuses, warm, end }: Figures): void {
  const number = (value: number) => value.toLocaleString('en');
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  const counts = [...statuses].toSorted().map(([status, count]) => `${status}: ${number(count)}`);
  const lines = [
    `${measured()}, ${minutes} minutes, TEST_SEED=${seed}.`,
    '',
    `- ${number(unpaid)} requests that nobody paid for, none of which ran the tool; ${number(paid)} paid calls beside them, each of which ran it once`,
    `- ${number(changed.sent)} changed paid calls, which ran it ${number(changed.runs)} times, none more than once; ${number(changed.answered)} of its results were read`,
    `- statuses of the first answer to each: ${counts.join(', ')}; no 5xx`,
    `- heap after a full collection: ${megabytes(warm.heapUsed)} MB after the first tenth, ${megabytes(end.heapUsed)} MB at the end; ${megabytes(end.rss)} MB resident`,
  ];
  const text = lines.join('\n');
  console.log(text);
  writePlace('reliability.md', 'fuzz', text);
}
