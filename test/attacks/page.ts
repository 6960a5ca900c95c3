import { measured, table, writePlace } from '../page.ts';
import type { Scenario } from './scenarios.ts';
import type { Experience } from './victim.ts';

/** The result of one attack. */
export interface Outcome {
  readonly bytes: number;
  readonly honest: Experience;
  /** In milliseconds; undefined if the server has died. */
  readonly longestTurn: number | undefined;
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
  const isOfNote = ({ after }: Row) => !after.alive || !(p99Of(after.honest) < 100);
  const lines = rows
    .filter(isOfNote)
    .map(({ name, scenario, before, after }) => [
      name,
      scenario.sent,
      grouped(after.bytes),
      before ? cellsOf(before).join('; ') : '',
      ...cellsOf(after),
      after.ended ? `${after.ended.ms.toFixed(0)} ms` : '',
    ]);
  const others = rows.filter((row) => !isOfNote(row)).map(({ after }) => after);
  const most = (of: (outcome: Outcome) => number) => Math.max(...others.map(of)).toFixed(0);
  const rest = `Of the ${others.length} others: at most ${most(({ megabytes }) => megabytes)} MB, p99 ${most(({ honest }) => p99Of(honest))} ms, longest turn ${most(({ longestTurn = 0 }) => longestTurn)} ms.`;
  const text = `${measured()}. Rows are the attacks that left honest calls a p99 of 100 ms or more.\n\n${table([head, ...lines]).join('\n')}\n\n${rest}`;
  console.log(text);
  if (isWhole) writePlace('reliability.md', 'attacks', text);
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

function p99Of({ times }: Experience): number {
  return times[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

function grouped(number: number): string {
  return number.toLocaleString('en');
}
