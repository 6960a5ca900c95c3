import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
/** A file for each part, because the parts run in parallel. */
const parts = join(dist, 'reliability');

/** Prints and stores the measurements of a part of the suite. */
export function record(part: string, figures: { readonly [name: string]: unknown }): void {
  mkdirSync(parts, { recursive: true });
  writeFileSync(join(parts, `${part}.json`), JSON.stringify(figures));
  console.log(`${part}: ${JSON.stringify(figures)}`);
}

/** Deletes the figures of earlier runs. */
export function clearFigures(): void {
  rmSync(parts, { recursive: true, force: true });
}

/** Writes all figures into `dist/reliability.json`. */
export function gatherFigures(): void {
  const machine = {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    cores: availableParallelism(),
  };
  const files = existsSync(parts) ? readdirSync(parts).sort() : [];
  const figures = files.map((file) => [
    basename(file, '.json'),
    JSON.parse(readFileSync(join(parts, file), 'utf8')),
  ]);
  mkdirSync(dist, { recursive: true });
  const all = { machine, ...Object.fromEntries(figures) };
  writeFileSync(join(dist, 'reliability.json'), `${JSON.stringify(all, null, 2)}\n`);
}
