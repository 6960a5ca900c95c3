import { parseToolName, toolFile } from '../../src/model/names.ts';
import type { Shape, ToolSpec } from '../../src/model/tool-model.ts';
import { hostileText } from '../e2e/variants.ts';
import fc from '../fast-check.ts';
import { anyText, fields, toolSpec } from '../fields/arbitraries.ts';

const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/).filter((text) => parseToolName(text).ok);

const description = fc.oneof(
  anyText.filter((text) => text.trim() !== ''),
  fc.constant(hostileText),
  fc.string({ unit: 'binary', minLength: 40, maxLength: 400 }).filter((text) => text.trim() !== ''),
);

const wide = fields(1, { minLength: 36, maxLength: 50 });
const deep = fields(5, { minLength: 1, maxLength: 3 });

/** Tools of every possible shape: any type, up to 50 fields, nested up to five deep, any text. */
const randomSpec: fc.Arbitrary<ToolSpec> = fc
  .record({
    spec: toolSpec,
    name,
    description,
    input: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, wide, deep),
    output: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, wide, deep),
  })
  .map(({ spec, input, output, ...text }) => ({
    ...spec,
    ...text,
    input: input ?? spec.input,
    output: (output ?? spec.output).map(inItsFormat),
  }));

/** An author's values and pattern can contradict the format: then no answer is valid for clients that check it. */
function inItsFormat<T extends Shape>(shape: T): T {
  const { format, ...others } = shape;
  const given = shape.default !== undefined || shape.enum || shape.examples || shape.pattern;
  return {
    ...(given ? (others as T) : shape),
    ...(shape.items && { items: inItsFormat(shape.items) }),
    ...(shape.fields && { fields: shape.fields.map(inItsFormat) }),
  };
}

/** Random specs for one project, the same for the same seed. */
export function randomSpecs(count: number, seed: number): readonly ToolSpec[] {
  const one = fc.uniqueArray(randomSpec, {
    minLength: count,
    maxLength: count,
    selector: (spec) => toolFile(spec.name),
    size: 'max',
  });
  return fc.sample(one, { numRuns: 1, seed })[0] ?? [];
}
