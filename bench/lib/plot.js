/**
 * A series of points; both coordinates are above 0.
 *
 * @typedef {object} Series
 * @property {string} name
 * @property {readonly { readonly x: number, readonly y: number }[]} points
 */

const width = 720;
const height = 360;
const margin = { left: 64, right: 190, top: 40, bottom: 44 };
const colours = ['#1b6ac9', '#c2410c', '#15803d', '#7e22ce'];

/**
 * A plot on logarithmic axes, on which linear growth is a line of slope one.
 *
 * @param {{ readonly title: string, readonly x: string, readonly y: string, readonly series: readonly Series[] }} plot
 * @returns {string} an SVG document
 */
export function logPlot({ title, x, y, series }) {
  const points = series.flatMap(({ points }) => points);
  const toX = scale(
    points.map((point) => point.x),
    margin.left,
    width - margin.right,
  );
  const toY = scale(
    points.map((point) => point.y),
    height - margin.bottom,
    margin.top,
  );
  const grid = [
    ...toX.ticks.map((tick) => {
      const at = toX.at(tick);
      return `${line(at, margin.top, at, height - margin.bottom)}${label(at, height - margin.bottom + 16, tick.toLocaleString('en'), 'middle')}`;
    }),
    ...toY.ticks.map((tick) => {
      const at = toY.at(tick);
      return `${line(margin.left, at, width - margin.right, at)}${label(margin.left - 8, at + 4, tick.toLocaleString('en'), 'end')}`;
    }),
  ];
  const curves = series.map(({ name, points }, index) => {
    const colour = colours[index % colours.length];
    const path = points.map(({ x, y }) => `${round(toX.at(x))},${round(toY.at(y))}`);
    const dots = path.map((at) => {
      const [cx, cy] = at.split(',');
      return `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`;
    });
    const legend = label(width - margin.right + 14, margin.top + 14 + index * 20, name, 'start', colour);
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}${legend}`;
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    label(margin.left, 22, title, 'start', '#111111'),
    ...grid,
    ...curves,
    label((margin.left + width - margin.right) / 2, height - 8, x, 'middle'),
    label(margin.left - 8, margin.top - 8, y, 'end'),
    '</svg>',
  ].join('\n')}\n`;
}

/**
 * A logarithmic axis from the power of ten below all values to the one above.
 *
 * @param {readonly number[]} values
 * @param {number} start coordinate of the lower end
 * @param {number} end
 */
function scale(values, start, end) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(Math.ceil(Math.log10(Math.max(...values))), low + 1);
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step)),
    at: (/** @type {number} */ value) => start + ((Math.log10(value) - low) / (high - low)) * (end - start),
  };
}

/** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
function line(x1, y1, x2, y2) {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="#dddddd"/>`;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {'start' | 'middle' | 'end'} anchor
 * @param {string} [colour]
 */
function label(x, y, text, anchor, colour = '#444444') {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${colour}">${escaped}</text>`;
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10;
}
