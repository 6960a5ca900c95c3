import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { initialRecordings } from '../../src/import/api-recordings.ts';
import { readSample } from '../../src/import/read-sample.ts';
import { toolOfSamples } from '../../src/import/sample.ts';
import { withSecrets } from '../../src/marketplace/core/redact-traffic.ts';
import { argumentsOf, parseJsonField } from '../../src/marketplace/web/form-input.ts';
import { toolContext } from '../../src/plan/tool-files.ts';
import { requestLiteral } from '../../src/render/request-code.ts';
import { documentOf, ok, toolOf } from './openapi.ts';

const large = '9007199254740993';
const int64 = { type: 'integer', format: 'int64' };
const parameter = (schema: object, more: object = {}) => ({ name: 'block', in: 'query', schema, ...more });

describe('an integer of 64 bits in a document', () => {
  it('is text of digits in arguments, and text or a number in answers; both are told', async () => {
    const { inputs, outputs, changes } = await toolOf(
      documentOf({
        parameters: [parameter({ ...int64, minimum: 1, default: 20, example: 7 })],
        responses: ok({ type: 'object', properties: { id: int64, count: { type: 'integer' } } }),
      }),
    );
    expect(inputs.block).toMatchObject({
      type: 'string',
      pattern: '^-?\\d+$',
      default: '20',
      examples: ['7'],
    });
    expect(inputs.block).not.toHaveProperty('minimum');
    expect(outputs.id?.type).toEqual(['integer', 'string']);
    expect(outputs.count?.type).toBe('integer');
    const told = changes.map(({ path, what }) => `${path} ${what}`).join('\n');
    expect(told).toMatch(/parameters\/0.* callers give text/);
    expect(told).toMatch(/properties\/id.* a large one arrives as text/);
  });

  it.each([
    ['with limits within 2^53', { ...int64, minimum: 0, maximum: 100 }, 'integer'],
    ['with listed values', { ...int64, enum: [1, 2] }, 'integer'],
    ['of 32 bits', { type: 'integer', format: 'int32' }, 'integer'],
    ['without format, with a larger limit', { type: 'integer', maximum: 2 ** 63 }, 'string'],
    ['that is called a number', { type: 'number', format: 'int64' }, 'string'],
  ])('%s', async (_, schema, type) => {
    const { inputs, tool } = await toolOf(
      documentOf({ parameters: [parameter(schema, { required: true })] }),
    );
    expect(inputs.block?.type).toBe(type);
    const [first] = tool.examples;
    expect(String(first?.arguments.block)).toMatch(/^-?\d+$/);
  });

  it.each(['json', 'yaml'])('keeps the digits of its examples in %s', async (kind) => {
    const schema = { ...int64, example: 'LARGE' };
    const text = JSON.stringify(documentOf({ parameters: [parameter(schema)] })).replace('"LARGE"', large);
    // A comment makes it YAML.
    const { inputs } = await toolOf(kind === 'json' ? text : `# YAML\n${text}`);
    expect(inputs.block?.examples).toEqual([large]);
  });

  it('is sent as digits in a body of JSON', async () => {
    const order = { type: 'object', properties: { id: int64 }, required: ['id'] };
    const properties = {
      block: int64,
      text: { type: 'string', pattern: '^-?\\d+$' },
      orders: { type: 'array', items: order },
      'user.id': { type: 'integer', default: 'LARGE' },
    };
    const schema = { type: 'object', properties, required: ['block'] };
    const document = documentOf({
      requestBody: { required: true, content: { 'application/json': { schema } } },
    });
    const { tool, call, inputs } = await toolOf(JSON.stringify(document).replace('"LARGE"', large));
    expect(inputs.text?.type).toBe('string');
    expect(inputs['user.id']).toMatchObject({ pattern: '^-?\\d+$', default: large });
    const { call: parts } = toolContext(tool);
    if (!parts) throw new Error('no request');
    expect(requestLiteral(parts, 4)).toContain(`integers: ['block', 'orders[].id', '["user.id"]']`);
    const [recording] = initialRecordings(tool, call, context.smoke);
    expect(recording?.request.json).toMatchObject({ block: expect.stringMatching(/^\d+$/) });
  });
});

it('a plain integer of an answer in a document is a number, or text as well if an example beside it is larger than a number can hold', async () => {
  const content = (example: object) => {
    const properties = { id: { type: 'integer' }, count: { type: 'integer' } };
    return { 'application/json': { schema: { type: 'object', properties }, example } };
  };
  const typesFor = async (example: object) => {
    const responses = { 200: { description: 'x', content: content(example) } };
    const { outputs } = await toolOf(JSON.stringify(documentOf({ responses })).replaceAll('"LARGE"', large));
    return [outputs.id?.type, outputs.count?.type];
  };
  expect(await typesFor({ id: 2 ** 53 - 1, count: 1 })).toEqual(['integer', 'integer']);
  expect(await typesFor({ id: 'LARGE', count: 1 })).toEqual([['integer', 'string'], 'integer']);
});

it('a large integer in a sample is text beside smaller ones, which stay integers', () => {
  const given = [
    readSample(`{"id": ${large}, "wei": [1, ${large}0]}`, 'a.json'),
    readSample('{"id": 5, "wei": []}', 'b.json'),
  ];
  const made = toolOfSamples(given.map(unwrap), { name: 'get_it', input: [] }, () => 'x');
  const { entry, sampleAnswers } = unwrap(made);
  expect(entry).toMatchObject({
    outputSchema: {
      properties: {
        id: { type: ['integer', 'string', 'null'] },
        wei: { items: { type: ['integer', 'string'] } },
      },
    },
  });
  expect(sampleAnswers).toEqual([
    { id: large, wei: [1, `${large}0`] },
    { id: 5, wei: [] },
  ]);
});

it('a page refuses a number that would be another one, and sends the digits of a field and of a repeated body', () => {
  expect(() => parseJsonField(`{"id": ${large}}`, 'arguments')).toThrow(/9007199254740993 is not exact/);
  expect(argumentsOf({ 'arg.id': large }, { properties: { id: { type: 'integer' } } })).toEqual({
    id: large,
  });
  const shown = `{"token":"[redacted]","id":${large}}`;
  expect(withSecrets(shown, `{"token":"t0ken","id":1}`)).toBe(`{"token":"t0ken","id":${large}}`);
});
