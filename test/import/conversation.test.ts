import { expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { argumentsInSchema } from '../../src/changes/send-requests.ts';
import { fieldsSchema } from '../../src/fields/shape.ts';
import { requestOf } from '../../src/import/api-recordings.ts';
import { curlRequest } from '../../src/import/request/curl-options.ts';
import { parseRequest } from '../../src/import/request/parse-request.ts';

const read = (body: object) => {
  const line = `curl https://x.test/chat -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  return unwrap(parseRequest(curlRequest(line), { input: [], constants: [] }));
};

it.each([
  [
    {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    },
    [
      ['model', 'm'],
      ['content', 'Hi'],
    ],
  ],
  [
    {
      messages: [
        { role: 'user', content: 'First' },
        { role: 'assistant', content: 'A' },
        { role: 'user', content: [{ type: 'text', text: 'Last' }, { type: 'image' }] },
      ],
    },
    [['text', 'Last']],
  ],
  [{ contents: [{ parts: [{ text: 'Explain' }, { text: 'this' }] }] }, [['text', 'this']]],
])('the text of the user in %j is an input, and the rest is sent unchanged', (body, inputs) => {
  const { call, input } = read(body);
  expect(input.map(({ name, default: value }) => [name, value])).toEqual(inputs);
  expect(requestOf(call, argumentsInSchema(fieldsSchema(input))).json).toEqual(body);
});

it.each([
  [{ messages: [{ role: 'system', content: 'Be brief.' }] }],
  [{ messages: [{ role: 'user', content: [{ type: 'image' }] }] }],
  [{ contents: [] }],
  [{ contents: [{ parts: [{ text: 5 }] }] }],
])('without a text of the user, %j is constant', (body) => {
  const { call, input } = read(body);
  expect(input.filter(({ name }) => !['contents', 'messages'].includes(name))).toEqual([]);
  expect(requestOf(call, argumentsInSchema(fieldsSchema(input))).json).toEqual(body);
});
