import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import program from '../../package.json' with { type: 'json' };
import { documents } from './documents.ts';
import type { TakenOver } from './take-over.ts';

/** This code runs from a bundle, started in the repository. */
const file = 'test/openapi-table/results.json';

/** What was measured of one document, and where. */
export interface Result {
  readonly title: string;
  /** `2026-11-22` */
  readonly day: string;
  /** Of this program. */
  readonly version: string;
  readonly node: string;
  readonly cores: number;
  /** Load average over the last minute, at the end. */
  readonly load: number;
  readonly row: TakenOver;
}

/** The latest results, in the order of the documents. */
export function readResults(): readonly Result[] {
  const known: readonly Result[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  return documents.flatMap(({ title }) => known.find((one) => one.title === title) ?? []);
}

export function withResult(results: readonly Result[], title: string, row: TakenOver): readonly Result[] {
  const made: Result = {
    title,
    day: new Date().toISOString().slice(0, 10),
    version: program.version,
    node: process.versions.node,
    cores: availableParallelism(),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    row,
  };
  return [...results.filter((one) => one.title !== title), made];
}

export function writeResults(results: readonly Result[]): void {
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}
