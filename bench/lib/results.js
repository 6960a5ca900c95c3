import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine, describeRuntime } from './machine.js';
import { markdown } from './markdown.js';
import { product } from './product.js';

/** @import { Section } from './section.js' */

/**
 * The findings of a part, and the machine and versions that they were measured with.
 *
 * @typedef {object} Stamp
 * @property {string} part
 * @property {string} date
 * @property {string} machine
 * @property {string} versions
 * @property {number} seconds duration of the part
 *
 * @typedef {Section & Readonly<Stamp>} Result
 */

/**
 * @param {string} part
 * @param {Section} section
 * @param {number} seconds
 * @returns {Result}
 */
export function stamp(part, section, seconds) {
  const [date = ''] = new Date().toISOString().split('T');
  const versions = `${product().title}, ${describeRuntime()}`;
  return { part, date, machine: describeMachine(), versions, seconds, ...section };
}

/**
 * Writes results.json, RESULTS.md and the plots. Earlier results of other parts are kept if they are of this version.
 *
 * @param {string} directory
 * @param {readonly Result[]} fresh
 * @param {readonly string[]} order of the parts
 */
export function writeResults(directory, fresh, order) {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'results.json');
  /** @type {Result[]} */
  const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  const results = [
    ...known.filter(
      ({ part, versions }) =>
        order.includes(part) &&
        versions.startsWith(`${product().title},`) &&
        !fresh.some((result) => result.part === part),
    ),
    ...fresh,
  ].sort((a, b) => order.indexOf(a.part) - order.indexOf(b.part));
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(directory, 'RESULTS.md'), markdown(results));
  for (const { plot } of results) if (plot) writeFileSync(join(directory, plot.file), plot.svg);
}
