import { brokenBy } from '../check/change-rules.ts';
import type { Drift, ListingChange } from '../check/check-report.ts';
import { clip } from '../command/format-text.ts';
import { type Paint, printable } from '../command/paint.ts';
import { shorten } from '../json/json.ts';
import { firstLines } from './lines.ts';

/** The first entries of a long list are enough for a reader; the JSON form contains all. */
const changesShown = 20;

/** What has changed since a tool list was recorded, and what the author has to do, as printable lines. */
export function driftLines({ against, changes, refreshNeeded }: Drift, paint: Paint): readonly string[] {
  if (changes.length === 0)
    return [`${paint.green('✓')} the tools have not changed since ${printable(against)}`];
  return [
    paint.bold(`Changes since ${printable(against)}`),
    ...changeLines(changes, paint),
    ...(refreshNeeded
      ? ['The marketplace uses the old list until you trigger "Refresh Skills" (C§3.2, C§9.3).']
      : []),
  ];
}

/** The changes of a tool list as printable lines, those that break somebody first. */
export function changeLines(changes: readonly ListingChange[], paint: Paint): readonly string[] {
  const worstFirst = changes.toSorted((a, b) => gravity(b) - gravity(a));
  return firstLines(worstFirst, changesShown, (change) => changeLine(change, paint));
}

function gravity({ breaks }: ListingChange): number {
  if (breaks === null) return 1;
  return breaks ? 2 : 0;
}

const nameWidth = 80;

function changeLine(
  { tool, path, breaks, breaksFor, what: change, before, after }: ListingChange,
  paint: Paint,
): string {
  const location = [clip(tool, nameWidth), path].filter((part) => part !== undefined).map(printable);
  const values = [before, after].filter((value) => value !== undefined).map((value) => shorten(value, 40));
  const valueText = values.length === 2 ? `: ${values.map(printable).join(' → ')}` : '';
  const mark = breakMark(breaks, brokenBy(breaksFor), paint);
  return `${mark}  ${location.join(' · ')}  ${printable(change)}${valueText}`;
}

function breakMark(breaks: ListingChange['breaks'], platformName: string, paint: Paint): string {
  if (breaks === null) return paint.yellow(`! ${platformName}`);
  if (breaks) return paint.red(`✗ ${platformName}`);
  return paint.dim(`· ${platformName}`);
}
