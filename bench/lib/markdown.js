/** @import { Result } from './results.js' */
/** @import { Table } from './section.js' */

/**
 * The page of all results.
 *
 * @param {readonly Result[]} results
 */
export function markdown(results) {
  const reaches = results.flatMap(({ reaches, date }) =>
    reaches.map(({ what, bound, figure, reached }) => [
      what,
      bound,
      figure,
      reached ? 'yes' : '**no**',
      date,
    ]),
  );
  const blocks = [
    '# Benchmarks',
    'Written by `npm run bench`; what the figures taught is in [FINDINGS.md](FINDINGS.md). Figures are medians with the smallest and the largest in brackets. What is compared runs in turn (A B A B …), and a ratio is the median of the ratios of neighbouring runs: no absolute figure is a bar. CPU is user and system time of all processes together, which other programs on the machine disturb least.',
    '## What was to be reached',
    table({ head: ['figure', 'reach', 'measured', 'reached', 'on'], rows: reaches }),
    ...results.flatMap((result, index) => [`## ${index + 1}. ${result.title}`, ...blocksOf(result)]),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** @param {Result} result */
function blocksOf({ text, tables, notes, plot, date, machine, versions, seconds }) {
  return [
    text,
    ...tables.map(table),
    ...(plot ? [`![${plot.alt}](${plot.file})`] : []),
    ...(notes.length > 0 ? [notes.map((note) => `- ${note}`).join('\n')] : []),
    `*${date}; ${machine}; ${versions}${seconds === undefined ? '' : `; took ${seconds} s`}.*`,
  ];
}

/** @param {Table} table */
function table({ head, rows }) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.map(cell).join(' | ')} |`;
  const rule = `| --- |${' ---: |'.repeat(head.length - 1)}`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
