import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Scenario } from './scenarios.ts';
import type { Experience } from './victim.ts';

/** The result of one attack. */
export interface Outcome {
  readonly bytes: number;
  readonly honest: Experience;
  /** In milliseconds; undefined if the server has died. */
  readonly longestTurn: number | undefined;
  readonly maxTurnMs: number;
  readonly alive: boolean;
  readonly afterwards: Experience | undefined;
  readonly megabytes: number;
  /** After SIGTERM; undefined if the server had died. */
  readonly ended: { readonly code: number | null; readonly ms: number } | undefined;
  readonly limitsMet: readonly string[];
}

export interface Row {
  readonly name: string;
  readonly scenario: Scenario;
  /** The result without limits. */
  readonly before: Outcome | undefined;
  readonly after: Outcome;
}

const page = join(import.meta.dirname, '../../docs/evidence/reliability.md');
const place = /(?<=<!-- attacks -->\n).*?(?=<!-- end of attacks -->)/s;

/** Prints the table of attacks and, if it is complete, writes it into docs/evidence/reliability.md. */
export function writeTable(rows: readonly Row[], isWhole: boolean): void {
  const head = [
    'attack',
    'what is sent',
    'bytes',
    'without limits: memory; honest calls; longest turn',
    'memory',
    'honest calls, p50 / p99',
    'longest turn, processor time',
    'end after SIGTERM',
  ];
  const lines = rows.map(({ name, scenario, before, after }) => [
    name,
    scenario.sent,
    grouped(after.bytes),
    before ? cellsOf(before).join('; ') : '',
    ...cellsOf(after),
    after.ended ? `${after.ended.ms.toFixed(0)} ms` : '',
  ]);
  const table = [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const date = new Date().toISOString().slice(0, 10);
  const machine = `Measured on ${date} with Node ${process.version.slice(1)} on ${availableParallelism()} cores.`;
  const text = `\n${machine}\n\n${table}\n\n`;
  console.log(text);
  if (!isWhole) return;
  const whole = readFileSync(page, 'utf8');
  if (!place.test(whole)) throw new Error('docs/evidence/reliability.md has no place for the attacks');
  writeFileSync(
    page,
    whole.replace(place, () => text),
  );
}

function cellsOf({ megabytes, alive, honest, longestTurn }: Outcome): readonly string[] {
  const memory = `${megabytes} MB${alive ? '' : ', then it died'}`;
  return [memory, timesOf(honest), longestTurn === undefined ? '' : `${longestTurn.toFixed(0)} ms`];
}

function timesOf({ times, failed }: Experience): string {
  const at = (part: number) => (times[Math.floor(times.length * part)] ?? Number.NaN).toFixed(1);
  const lost = failed === 0 ? '' : `, ${grouped(failed)} of ${grouped(failed + times.length)} failed`;
  return times.length === 0 ? 'none answered' : `${at(0.5)} / ${at(0.99)} ms${lost}`;
}

function grouped(number: number): string {
  return number.toLocaleString('en');
}
