import type { ErrorObject, ValidateFunction } from 'ajv';
import {
  type InputError,
  orList,
  pass,
  type Result,
  refuse,
  spellingHint,
} from 'market-mcp-contract/command';
import type { Problem } from 'market-mcp-contract/definition';
import { type JsonObject, lazyValidator, mismatchesIn } from 'market-mcp-contract/json';
import { fieldErrors } from '../fields/shape.ts';
import { parseToolName } from '../model/names.ts';
import type { ToolSpec } from '../model/tool-model.ts';
import { specKeys, toolSpecSchema } from './tool-spec-schema.ts';

const validator = lazyValidator(toolSpecSchema);

/**
 * Validates a ToolSpec, from a file or from an author's answers.
 *
 * @param path of the object, for the errors: `tools[0]`
 * @returns the spec, or every error at once
 */
export function toolSpecOf(value: ToolSpec | JsonObject, path: string): Result<ToolSpec> {
  const validate = validator();
  if (!validate(value)) return refuse(...toolNameErrors(value, path), ...schemaErrors(validate, value, path));
  const spec = { returns: 'record', ...value } as unknown as ToolSpec;
  // Errors that the JSON Schema cannot express.
  const errors = [
    ...toolNameErrors(spec, path),
    ...fieldErrors(spec.input, `${path}.input`),
    ...fieldErrors(spec.output, `${path}.output`),
  ];
  if (errors.length > 0) return refuse(...errors);
  return pass(spec);
}

function toolNameErrors({ name }: { readonly name?: unknown }, path: string): readonly InputError[] {
  const parsed = typeof name === 'string' ? parseToolName(name, `${path}.name`) : undefined;
  if (parsed?.ok === false) return parsed.errors;
  return [];
}

/** One error for each place, in the terms of a spec. */
function schemaErrors(validate: ValidateFunction, value: object, path: string): readonly InputError[] {
  const problems = mismatchesIn(validate, value, path);
  const ajvErrors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if');
  const errors = ajvErrors.flatMap((error, i) => {
    const problem = problems[i];
    const isName = error.instancePath === '/name' && error.keyword === 'pattern';
    if (problem && !isName) return [schemaError(error, problem)];
    return [];
  });
  return [...new Map(errors.map((found) => [`${found.where} ${found.message}`, found])).values()];
}

function schemaError({ keyword, params, instancePath }: ErrorObject, problem: Problem): InputError {
  const { path: location = '', expected, actual } = problem;
  const found = (message: string, hint: string): InputError => ({
    where: location,
    ...(actual !== 'nothing' && { value: actual }),
    message,
    hint,
  });
  const hintForWord = (word: string, words: readonly string[]) =>
    spellingHint(word, words, `Write ${orList(words)}.`);
  switch (keyword) {
    case 'required':
      return found('is missing', `Write ${expectedValue(params.missingProperty)}.`);
    case 'additionalProperties':
      return found(
        'is not a key of a tool spec',
        hintForWord(params.additionalProperty, keysAt(instancePath)),
      );
    case 'enum':
      return found(
        'is not one of the allowed values',
        hintForWord(actual.replaceAll('"', ''), params.allowedValues),
      );
    case 'minItems':
      return found('is empty', 'Write at least one item.');
    case 'minLength':
      return found('is empty', 'Write a text.');
    case 'false schema':
      return found('does not apply to a value of this type', 'Remove it, or change the type.');
    default:
      return found(`expected ${expected}`, `Write ${expected}.`);
  }
}

/** The allowed keys at a place (a JSON pointer). */
function keysAt(pointer: string): readonly string[] {
  if (pointer === '') return specKeys.tool;
  if (/^\/examples\/\d+$/.test(pointer)) return specKeys.example;
  if (pointer.endsWith('/items')) return specKeys.shape;
  return specKeys.field;
}

function expectedValue(key: unknown): string {
  const examples: { readonly [key: string]: string } = {
    name: 'a name, such as get_price',
    description: 'what the tool returns and when to use it',
    input: 'a list of fields; [] if the tool has no input',
    output: 'a list of fields: [{ "name": "price", "type": "number" }]',
    type: 'string, number, integer, boolean, object or array',
    items: 'the type of the items: { "type": "string" }',
  };
  return (typeof key === 'string' && Object.hasOwn(examples, key) && examples[key]) || String(key);
}
