import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completeAnswers } from '../../../src/questions/create-answers.ts';
import { keys } from '../../keys.ts';
import { directory } from '../../project/directory.ts';
import { afterDirectory, drive, enterAt, prompts } from './interview.ts';

const { enter, ctrlU, down, escape: esc, tab, up } = keys;

describe('the start', () => {
  it('starts from an OpenAPI document: filters its operations by words', async () => {
    const document = join(directory(), 'api.json');
    const responses = {
      200: { content: { 'application/json': { schema: { type: 'object', properties: { a: {} } } } } },
    };
    const paths = Object.fromEntries(
      ['gas', 'fee', 'pool'].map((name) => [
        `/${name}`,
        { get: { operationId: `get_${name}`, summary: `The ${name}`, responses } },
      ]),
    );
    writeFileSync(document, JSON.stringify({ openapi: '3.1.0', info: { title: 'T' }, paths }));
    const { value, text } = await drive([
      [prompts.start, down, down, down, enter],
      [prompts.directory, enter],
      ['Which OpenAPI document?', 'nowhere.json', enter],
      ['there is no such file', ctrlU, document, enter],
      ['Which of the 3 operations?', 'the fee'],
      ['1 match', tab, enter],
      ['and when should an agent use it?', ctrlU, 'Returns the fee. Use it for fees.', enter],
      [prompts.platform, enter],
      [prompts.write, enter],
    ]);
    const description = ['Returns the fee. Use it for fees.'];
    expect(value).toMatchObject({ fromOpenapi: document, operation: ['GET /fee'], description });
    expect(text).not.toContain(prompts.tool);
  });

  it('asks for the inputs of a request when their answer is changed, also if they are obvious', async () => {
    const { value } = await drive([
      [prompts.start, enter],
      ['Paste a curl command, or', 'curl http://127.0.0.1:1/rates?base=EUR', enter],
      [prompts.directory, enter],
      [prompts.tool, enter],
      ['A value that finds nothing', enter],
      [prompts.platform, enter],
      [prompts.write, down, enter],
      ['Which answer?', down, down, down, down, enter],
      ['Which values of the request are inputs of the tool?', 'base'],
      ['Search: base', tab, enter],
      ['none selected', enter],
    ]);
    expect(value).toMatchObject({ constant: ['base'] });
  });

  it('pastes a curl command before all other questions, and lists what may be an input', async () => {
    const line = 'curl http://127.0.0.1:1/users/123/orders?limit=5';
    const { value, text } = await drive([
      [prompts.start, enter],
      ['Paste a curl command, or', line, enter],
      [prompts.directory, enter],
      [prompts.tool, enter],
      ['2 of 3; the others are constant', 'limit'],
      ['1 match', tab, enter],
      ['A value that finds nothing', esc],
      ['◻ limit', enter],
      ['A value that finds nothing', 'limit=3', enter],
      ['limit, which is not an argument', ctrlU, 'user_id=x', enter],
      ['expected type integer', ctrlU, 'user_id=9', enter],
      [prompts.platform, enter],
      [prompts.write, enter],
    ]);
    expect(value).toMatchObject({ constant: ['limit'] });
    expect(value?.send).toBeUndefined();
    expect(value?.example).toEqual([{ tool: '', parameter: 'user_id', text: '9' }]);
    expect(text).not.toContain('may change something');
    expect(text).toContain('user_id');
  });

  it('asks whether an operation is sent of which the document declares no answer', async () => {
    const document = join(directory(), 'api.json');
    const paths = { '/gas': { get: { responses: { 200: { description: 'ok' } } } } };
    writeFileSync(document, JSON.stringify({ openapi: '3.1.0', info: { title: 'T' }, paths }));
    const flagAnswers = {
      directory: 'x',
      fromOpenapi: document,
      operation: ['GET /gas'],
      platform: 'generic',
    };
    const answers = [
      ['The document does not say what GET /gas answers', 'y', enter],
      [prompts.write, enter],
    ] as const;
    const { value } = await drive(answers, { flagAnswers });
    expect(value).toMatchObject({ send: true });
  });

  it('asks which fields of a large answer to keep, with their size, and keeps them on the way back', async () => {
    const document = join(directory(), 'api.json');
    const properties = Object.fromEntries(
      ['id', 'owner', ...Array.from({ length: 60 }, (_, i) => `field_${i}`)].map((name) => [
        name,
        { type: 'string', description: `The meaning of ${name} in one sentence` },
      ]),
    );
    const responses = {
      200: { content: { 'application/json': { schema: { type: 'object', properties } } } },
    };
    const operation = { operationId: 'get_gas', summary: 'Returns the gas', responses };
    const other = { ...operation, operationId: 'get_fee' };
    const paths = { '/gas': { get: operation }, '/fee': { get: other } };
    writeFileSync(document, JSON.stringify({ openapi: '3.1.0', info: { title: 'T' }, paths }));
    const flagAnswers = { directory: 'x', fromOpenapi: document, platform: 'generic' };
    const one = await drive(
      [
        ['Enter keeps all 62, about', 'owner'],
        ['1 match', tab],
        ['1 of 62, about', enter],
        ['What does get_gas return', esc],
        ['◼ owner', enter],
        ['What does get_gas return', enter],
        [prompts.write, enter],
      ],
      { flagAnswers: { ...flagAnswers, operation: ['get_gas'] } },
    );
    expect(one.value).toMatchObject({ fields: ['owner'] });
    const two = await drive(
      [
        ['Which fields of get_gas?', enter],
        ['Which fields of get_fee?', tab],
        ['1 of 62', enter],
        [prompts.write, enter],
      ],
      { flagAnswers: { ...flagAnswers, operation: ['get_gas', 'get_fee'] } },
    );
    expect(two.value).toMatchObject({ fields: ['get_fee:id'] });
    const all = await drive(
      [
        ['Enter keeps all 62', enter],
        ['What does get_gas return', enter],
        [prompts.write, enter],
      ],
      { flagAnswers: { ...flagAnswers, operation: ['get_gas'] } },
    );
    expect(all.value).toMatchObject({ fields: [] });
  });

  it('starts from the answers in several files', async () => {
    const place = directory();
    const [one, two] = [join(place, 'a.json'), join(place, 'b.json')];
    for (const file of [one, two]) writeFileSync(file, '{"gwei":1}');
    const sampled = await drive([
      [prompts.start, down, down, enter],
      [prompts.directory, enter],
      ['Which files contain answers', `${one}, ${two}`, enter],
      ...enterAt('tool', 'effect', 'input', 'description', 'platform', 'write'),
    ]);
    expect(sampled.value).toMatchObject({ fromSample: [one, two] });
  });

  it('asks for operations again after another document is chosen, even if flags gave them', async () => {
    const place = directory();
    const responses = {
      200: { content: { 'application/json': { schema: { type: 'object', properties: { a: {} } } } } },
    };
    const document = (name: string) => {
      const path = join(place, `${name}.json`);
      const paths = { [`/${name}`]: { get: { operationId: `get_${name}`, responses } } };
      writeFileSync(path, JSON.stringify({ openapi: '3.1.0', info: { title: 'T' }, paths }));
      return path;
    };
    const [gas, fee] = [document('gas'), document('fee')];
    const { value } = await drive(
      [
        ['What does get_gas return', 'x', enter],
        [prompts.write, down, enter],
        ['Which answer?', down, enter],
        ['Which OpenAPI document?', ctrlU, fee, enter],
        ['Which of the 1 operations?', tab, enter],
        ['What does get_fee return', enter],
        [prompts.write, enter],
      ],
      { flagAnswers: { directory: 'x', platform: 'generic', fromOpenapi: gas, operation: ['GET /gas'] } },
    );
    expect(value).toMatchObject({ fromOpenapi: fee, operation: ['GET /fee'] });
  });

  it('changes the later questions when the author goes back to the start', async () => {
    const { value } = await drive([
      [prompts.start, up, enter],
      [prompts.directory, esc],
      [prompts.start, down, down, enter],
      ...enterAt('directory', ...afterDirectory),
    ]);
    expect(value).toEqual(completeAnswers({}));
  });
});
