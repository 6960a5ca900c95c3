import { Ajv } from 'ajv';
import ajvFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import { blankResult } from '../../packages/contract/src/definition/outcomes.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { sampleArguments } from '../../packages/contract/src/platforms/sample-arguments.ts';
import { inspectToolList } from '../../packages/contract/src/rules/inspect.ts';
import { toImportedTool } from '../../src/import/imported-tool.ts';
import { prepareTools } from '../../src/import/prepare.ts';
import fc from '../fast-check.ts';
import { schemaDocument } from '../samples/schema-arbitraries.ts';

/** A separate validator with the settings of the MCP SDK's client. */
const judge = new Ajv({ strict: false, validateSchema: false, allErrors: true, logger: false });
(ajvFormats as unknown as typeof ajvFormats.default)(judge);

const entry = fc.record(
  {
    name: fc.constant('get_it'),
    description: fc.constant('Returns it. Use it when it is asked for.'),
    inputSchema: schemaDocument,
    outputSchema: schemaDocument,
    annotations: fc.dictionary(
      fc.constantFrom('readOnlyHint', 'title', 'x'),
      fc.constantFrom(true, 'yes', 1),
    ),
  },
  { requiredKeys: ['name', 'description', 'inputSchema', 'outputSchema'] },
);

it('a definition of any schemas is refused with a place and a reason, or meets every guarantee', () => {
  let accepted = 0;
  fc.assert(
    fc.property(entry, (given) => {
      const result = prepareTools([given as JsonObject].map(toImportedTool), context);
      if (!result.ok) {
        expect(result.errors.length).toBeGreaterThan(0);
        for (const { where, message, hint } of result.errors) {
          expect(where).toMatch(/^get_it\./);
          expect(message.length * hint.length).toBeGreaterThan(0);
        }
        return;
      }
      accepted += 1;
      const [tool] = result.value.tools;
      if (!tool) throw new Error('no tool');
      const { definition, samples, examples } = tool;
      const broken = inspectToolList([definition], context)
        .filter(({ level, status }) => level === 'must' && status === 'fail')
        .map(({ id, problems }) => ({ id, problems }));
      expect(broken).toEqual([]);

      const output = judge.compile(definition.outputSchema);
      const input = judge.compile(definition.inputSchema);
      for (const { answer } of samples)
        expect(output(answer), JSON.stringify([answer, output.errors])).toBe(true);
      for (const { arguments: args } of examples) expect(input(args)).toBe(true);
      expect(input(sampleArguments(definition.inputSchema, context.smoke))).toBe(true);
      const blank = blankResult(definition.outputSchema);
      if (!blank.ok) throw new Error('no blank answer');
      const outcomes = [
        { searchExhausted: true, noResultsReason: 'Nothing matches.' },
        { error: 'UPSTREAM_DOWN', message: 'The source does not answer.' },
      ];
      for (const signal of outcomes) {
        const answer = { ...blank.result, ...signal };
        expect(output(answer), JSON.stringify([answer, output.errors])).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
  expect(accepted).toBeGreaterThan(30);
});
