import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import program from '../../package.json' with { type: 'json' };
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

/** The latest result of each document. */
export function readResults(): readonly Result[] {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

/** Replaces the result of one document. */
export function writeResult(title: string, row: TakenOver): void {
  const made: Result = {
    title,
    day: new Date().toISOString().slice(0, 10),
    version: program.version,
    node: process.versions.node,
    cores: availableParallelism(),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    row,
  };
  writeResults([...readResults().filter((one) => one.title !== title), made]);
}

/** @param titles of the documents, in their order; results of other documents are removed */
export function sortResults(titles: readonly string[]): readonly Result[] {
  const known = readResults();
  const results = titles.flatMap((title) => known.find((one) => one.title === title) ?? []);
  writeResults(results);
  return results;
}

function writeResults(results: readonly Result[]): void {
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}
