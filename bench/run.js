import { parseArgs } from 'node:util';
import { installPeers } from './lib/peers.js';
import { benchDirectory } from './lib/places.js';
import { stamp, writeResults } from './lib/results.js';
import { coldNpx } from './parts/cold-npx.js';
import { coldStart } from './parts/cold-start.js';
import { compile } from './parts/compile.js';
import { exact } from './parts/exact.js';
import { fromNothing } from './parts/from-nothing.js';
import { growth } from './parts/growth.js';
import { load } from './parts/load.js';
import { marketplace } from './parts/marketplace.js';
import { modern } from './parts/modern.js';
import { readme } from './parts/readme.js';
import { replica } from './parts/replica.js';
import { scaffold } from './parts/scaffold.js';
import { scaleOut } from './parts/scale-out.js';
import { since } from './parts/since.js';
import { source } from './parts/source.js';
import { starts } from './parts/start.js';

// Measures the built product beside its peers and writes RESULTS.md:
//
//   npm run bench -- [--only <part>[,<part>]] [--quick] [--out <directory>]
//
// Each part is written as soon as it is measured. Rows of other parts are kept unless they are of another version.
// `--quick` makes few and short runs, as a smoke test. Its figures are meaningless, so it writes only with
// `--out`.

const parts = [
  coldStart,
  scaffold,
  fromNothing,
  readme,
  starts,
  coldNpx,
  compile,
  load,
  modern,
  since,
  growth,
  scaleOut,
  replica,
  marketplace,
  source,
  exact,
];

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const names = parts.map(({ name }) => name);
const wanted = values.only?.split(',') ?? names;
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`No part is named ${unknown.join(', ')}. Parts: ${names.join(', ')}`);
  process.exit(2);
}

installPeers();
const directory = values.out ?? (values.quick ? undefined : benchDirectory);
const chosen = parts.filter(({ name }) => wanted.includes(name));
const begun = performance.now();
for (const [index, part] of chosen.entries()) {
  console.log(`[${index + 1}/${chosen.length}] ${part.name}, ${clockSince(begun)} after the start`);
  const started = performance.now();
  try {
    const section = await part.run({ quick: values.quick });
    report(stamp(part.name, section, Math.round((performance.now() - started) / 1000)));
  } catch (error) {
    console.error(`  FAILED  ${part.name}: ${error instanceof Error ? error.stack : error}`);
    process.exitCode = 1;
  }
}
console.log(`${chosen.length} parts in ${clockSince(begun)}`);

/** @param {import('./lib/results.js').Result} result */
function report(result) {
  console.log(`  ${result.title} (${result.seconds} s)`);
  for (const { what, bound, figure, reached } of result.reaches) {
    console.log(`  ${reached ? 'reached' : 'MISSED '}  ${what}: ${figure}, ${bound}`);
  }
  for (const note of result.notes) console.log(`  ${note}`);
  if (directory) writeResults(directory, [result], names);
}

/** Minutes and seconds, `3:07`. @param {number} since */
function clockSince(since) {
  const seconds = Math.round((performance.now() - since) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
