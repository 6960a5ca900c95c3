/**
 * The findings of a part.
 *
 * @typedef {object} Section
 * @property {string} title
 * @property {string} text what was run
 * @property {readonly Table[]} tables
 * @property {readonly Reach[]} reaches
 * @property {readonly string[]} notes what could not be run, and further remarks
 * @property {{ readonly file: string, readonly svg: string, readonly alt: string }} [plot]
 */

/**
 * @typedef {object} Table
 * @property {readonly string[]} head the first column is text, the others are figures
 * @property {readonly (readonly string[])[]} rows
 */

/**
 * A figure with its bar.
 *
 * @typedef {object} Reach
 * @property {string} what
 * @property {string} bound `at most 1.3 ×`
 * @property {string} figure
 * @property {boolean} reached
 */

/**
 * A part of the benchmarks.
 *
 * @typedef {object} Part
 * @property {string} name for `--only`
 * @property {(options: { readonly quick: boolean }) => Section | Promise<Section>} run
 */

import { spreadOf } from './statistics.js';

/** @import { Spread } from './statistics.js' */

/**
 * A number with three significant digits.
 *
 * @param {number} value
 */
export function figure(value) {
  if (!Number.isFinite(value)) return '–';
  return value.toLocaleString('en', { maximumSignificantDigits: Math.abs(value) < 1000 ? 3 : 4 });
}

/**
 * A median with its spread, `41.2 (40.1–55.0)`.
 *
 * @param {Spread | readonly number[]} values
 */
export function withSpread(values) {
  const spread = 'median' in values ? values : spreadOf(values);
  return `${figure(spread.median)} (${figure(spread.min)}–${figure(spread.max)})`;
}

/**
 * A figure with an upper bar.
 *
 * @param {string} what
 * @param {Spread} measured
 * @param {number} bound
 * @param {string} [unit]
 * @returns {Reach}
 */
export function atMost(what, measured, bound, unit = '×') {
  return {
    what,
    bound: `at most ${bound} ${unit}`,
    figure: withSpread(measured),
    reached: measured.median <= bound,
  };
}

/**
 * A figure with a lower bar.
 *
 * @param {string} what
 * @param {Spread} measured
 * @param {number} bound
 * @returns {Reach}
 */
export function atLeast(what, measured, bound) {
  return {
    what,
    bound: `at least ${bound} ×`,
    figure: withSpread(measured),
    reached: measured.median >= bound,
  };
}
