import { isObject } from '../contract/json.ts';
import type { Json } from '../contract/model.ts';
import { pass, refuse, reject } from '../model/input-error.ts';
import type { Result } from '../model/model.ts';
import { readInput } from '../project/read/input.ts';
import { readDocument } from '../tools/read.ts';
import { readMatching } from './examples.ts';
import type { KnownFailure } from './model.ts';
import { nameErrors } from './select.ts';
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
  const { known } = document.value as unknown as { known: readonly KnownFailure[] };
  const errors = known.flatMap(({ rule }, index) => nameErrors(`${file}.known[${index}].rule`, rule));
  return errors.length > 0 ? refuse(...errors) : pass({ file, known });
}

/** A recorded tool list: an array of tools, `{"tools": […]}`, or a whole JSON-RPC answer to tools/list. */
export async function readListing(file: string): Promise<Result<readonly Json[]>> {
  const document = readDocument(await readInput(file), file);
  if (!document.ok) return document;
  const { value } = document;
  const listed = [value, isObject(value) ? value.tools : null, toolsOfAnswer(value)].find(Array.isArray);
  if (listed) return pass(listed);
  return reject(file, undefined, 'contains no list of tools', 'Save one with --save-listing.');
}

function toolsOfAnswer(value: Json): Json | undefined {
  return isObject(value) && isObject(value.result) ? value.result.tools : undefined;
}
