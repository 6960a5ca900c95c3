import { rmSync, writeFileSync } from 'node:fs';
import { measure } from '../lib/measure.js';
import { freshPath } from '../lib/places.js';
import { buildProject, compiler, definitionsOf, plainEnvironment } from '../lib/product.js';
import { atMost, withSpread } from '../lib/section.js';
import { spreadOf } from '../lib/statistics.js';

/** @import { Part } from '../lib/section.js' */

const count = 500;

/** Bars for the time and memory of a build. */
const bars = {
  plain: { seconds: 4, mb: 450 },
  heavy: { seconds: 6, mb: 600 },
};

/** @type {Part} */
export const compile = {
  name: 'compile',
  run({ quick }) {
    const tools = quick ? 10 : count;
    const rounds = quick ? 1 : 3;
    const corpora = { plain: definitionsOf(tools), heavy: definitionsOf(tools).map(heavier) };
    const rows = [];
    const reaches = [];
    for (const kind of /** @type {const} */ (['plain', 'heavy'])) {
      const spec = freshPath('spec');
      writeFileSync(spec, JSON.stringify(corpora[kind]));
      const directory = buildProject(['--spec', spec]);
      const runs = Array.from({ length: rounds }, () =>
        measure(process.execPath, [compiler(directory)], {
          cwd: directory,
          env: plainEnvironment,
          memory: true,
        }),
      );
      rmSync(directory, { recursive: true });
      const seconds = spreadOf(runs.map(({ ms }) => ms / 1000));
      const mb = spreadOf(runs.map(({ peakMb }) => peakMb));
      rows.push([`${tools} ${kind} tools`, withSpread(seconds), withSpread(mb)]);
      reaches.push(atMost(`${tools} ${kind} tools: compile`, seconds, bars[kind].seconds, 's'));
      if (!Number.isNaN(mb.median))
        reaches.push(atMost(`${tools} ${kind} tools: peak`, mb, bars[kind].mb, 'MB'));
    }
    return {
      title: 'Compiling a project',
      text: '`tsc` with the settings of the project. A heavy tool has an input that is an enum of 40 values, and an output of 20 properties of which one is four levels deep.',
      tables: [{ head: ['project', 's', 'peak MB'], rows }],
      reaches,
      notes: [],
    };
  },
};

/** @param {ReturnType<typeof definitionsOf>[number]} definition */
function heavier(definition) {
  const { inputSchema, outputSchema, name } = definition;
  const values = Array.from({ length: 40 }, (_, index) => `${name.replaceAll('_', '-')}-${index}`);
  const region = { type: 'string', description: 'Region to look in', enum: values, default: values[0] };
  const further = Array.from({ length: 16 }, (_, index) => [
    `figure${index}`,
    { type: ['number', 'null'], description: `Figure number ${index} of the exchange` },
  ]);
  const details = [1, 2, 3, 4].reduce(
    (inner, level) => ({
      type: 'object',
      description: `Details of level ${level}`,
      properties: { inner, kind: { type: ['string', 'null'], description: 'Kind of the details' } },
      required: ['kind'],
    }),
    /** @type {object} */ ({ type: ['string', 'null'], description: 'The innermost detail' }),
  );
  return {
    ...definition,
    inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, region } },
    outputSchema: {
      ...outputSchema,
      properties: { ...outputSchema.properties, ...Object.fromEntries(further), details },
    },
  };
}
