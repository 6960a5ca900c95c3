import type { CheckReport } from '../model.ts';

/** The report as one line of JSON (docs/check.md). */
export function jsonReport(report: CheckReport): string {
  return safeJson(report);
}

/**
 * JSON on one line in which control and direction characters are escaped, and so is `##[`, which GitHub Actions
 * would read as a command: safe to print, whoever wrote the text.
 */
export function safeJson(value: object): string {
  const json = JSON.stringify(value).replaceAll('##[', `#${escapeOf('#'.charCodeAt(0))}[`);
  return json.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeOf(character.charCodeAt(index))).join(''),
  );
}

function escapeOf(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
