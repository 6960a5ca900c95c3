import { pass, refuse } from '../command/input-error.ts';
import type { Result } from '../command/input-result.ts';
import type { KnownFailure } from './check-report.ts';
import { readMatching } from './examples.ts';
import { ruleNameErrors } from './select.ts';
import type { Baseline } from './verdict.ts';

const baselineSchema = {
  type: 'object',
  properties: {
    known: {
      type: 'array',
      items: {
        type: 'object',
        properties: { rule: { type: 'string' }, tool: { type: 'string' } },
        required: ['rule'],
        additionalProperties: false,
      },
    },
  },
  required: ['known'],
  additionalProperties: false,
};

/** A baseline of known failures, JSON or YAML: `{"known": [{"rule": "input.sample", "tool": "get_price"}]}`. */
export async function readBaseline(file: string): Promise<Result<Baseline>> {
  const hint =
    'Write {"known": [{"rule": "input.sample", "tool": "get_price"}]}, or save one with --save-baseline.';
  const document = await readMatching(file, baselineSchema, hint);
  if (!document.ok) return document;
  const { known: knownFailures } = document.value as unknown as { known: readonly KnownFailure[] };
  const errors = knownFailures.flatMap(({ rule }, index) =>
    ruleNameErrors(`${file}.known[${index}].rule`, rule),
  );
  if (errors.length > 0) return refuse(...errors);
  return pass({ file, known: knownFailures });
}
