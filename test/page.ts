import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const evidence = join(import.meta.dirname, '../docs/evidence');

/** Replaces what stands between `<!-- place -->` and `<!-- end of place -->` in a file of docs/evidence. */
export function writePlace(file: string, place: string, text: string): void {
  const page = join(evidence, file);
  const whole = readFileSync(page, 'utf8');
  const [begin, end] = [`<!-- ${place} -->\n`, `<!-- end of ${place} -->`];
  const [at, until] = [whole.indexOf(begin) + begin.length, whole.indexOf(end)];
  if (at < begin.length || until < at) throw new Error(`docs/evidence/${file} has no place for ${place}`);
  writeFileSync(page, `${whole.slice(0, at)}\n${text}\n\n${whole.slice(until)}`);
}

/** The first line of figures. */
export function measured(): string {
  const date = new Date().toISOString().slice(0, 10);
  return `Measured on ${date} with Node ${process.version.slice(1)} on ${availableParallelism()} cores`;
}

/** The lines of a table, whose first row is its head. */
export function table([head = [], ...rows]: readonly (readonly (string | number)[])[]): readonly string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

/** One line, without characters that end a table cell. */
export function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;').slice(0, 300);
}
