import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { askCreate, Cancelled, type CreatePrompts } from '../../../src/cli/prompts/create.ts';
import { isStartOpen } from '../../../src/cli/prompts/start.ts';
import { inputError } from '../../../src/model/input-error.ts';
import { completeAnswers } from '../../../src/questions/create-answers.ts';
import { keys, pasted } from '../../keys.ts';
import { directory } from '../../project/directory.ts';
import { type Answer, Keyboard } from './keyboard.ts';

const { enter, ctrlC, ctrlD, ctrlK, ctrlU, down, escape: esc, right, shiftUp, tab, up } = keys;

const prompts = {
  start: 'Start from',
  directory: 'Where should the project be created?',
  tool: 'What is the tool called?',
  description: 'What does the tool return, and when',
  effect: 'What does a call do?',
  input: 'What are the inputs of the tool?',
  returns: 'One record or a list?',
  output: 'What does the tool return?',
  platform: 'For which marketplace?',
  write: 'Write it?',
};
const everyPrompt = Object.values(prompts);

async function drive(answers: readonly Answer[], options: Partial<CreatePrompts> = {}) {
  // Most tests start from nothing, by pressing Enter.
  const starts = isStartOpen(options.given ?? {}) && answers[0]?.[0] !== prompts.start;
  const keyboard = new Keyboard(starts ? [[prompts.start, enter], ...answers] : answers);
  const asked = askCreate({
    given: {},
    review: () => ({ ok: true, value: ['my-tool/package.json'] }),
    resume: (parts) => JSON.stringify(parts),
    input: keyboard.input,
    output: keyboard,
    ...options,
  });
  const answered = await asked.then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  expect(keyboard.unused).toBe(0);
  return { ...answered, text: keyboard.text };
}

const enterAt = (...names: (keyof typeof prompts)[]) => names.map((name) => [prompts[name], enter] as const);

const fees = {
  name: 'fees',
  required: true,
  type: 'array',
  items: {
    type: 'object',
    fields: [{ name: 'gwei', required: true, type: 'number', examples: [1.5], description: 'Price in gwei' }],
  },
};

/** Answers everything except the input fields. */
const known = {
  directory: 'x',
  tool: 'get_it',
  description: 'Returns it.',
  effect: 'reads',
  returns: 'record',
  output: [{ name: 'a', type: 'string' }],
  platform: 'generic',
} as const;

describe('the interactive flow', () => {
  it('takes the defaults if every answer is Enter', async () => {
    const { value, text } = await drive(everyPrompt.map((prompt) => [prompt, enter]));
    expect(value).toEqual(completeAnswers({}));
    expect(text).toContain('my-tool/package.json');
  });

  it('asks only what flags did not answer', async () => {
    const given = { directory: 'x', tool: 'get_time', description: 'Returns the time.', platform: 'context' };
    const { value, text } = await drive(enterAt('effect', 'input', 'returns', 'output', 'write'), { given });
    expect(value).toEqual(completeAnswers(given));
    expect(text).not.toContain(prompts.tool);
  });

  it('asks for values of required parameters of a spec file that have only placeholders', async () => {
    const spec = join(directory(), 'tools.json');
    const code = { type: 'string', pattern: '^[A-Z]{3}$', description: 'Code' };
    const tool = {
      name: 'get_x',
      description: 'Returns x. Use it when x is asked for.',
      inputSchema: {
        type: 'object',
        properties: { code, other: code, free: { type: 'string' }, left: code },
        required: ['code', 'other', 'free'],
      },
      outputSchema: { type: 'object', properties: { x: { type: 'number' } } },
    };
    writeFileSync(spec, JSON.stringify([tool]));
    const { value, text } = await drive(
      [
        [prompts.directory, enter],
        ['Example of get_x.code', 'abc', enter],
        ['does not match the parameter', ctrlU, 'ABC', enter],
        ['Example of get_x.other', enter],
        [prompts.platform, enter],
        [prompts.write, enter],
      ],
      { given: { spec } },
    );
    const example = [{ tool: 'get_x', parameter: 'code', text: 'ABC' }];
    expect(value).toEqual(completeAnswers({ spec, example }));
    expect(text).not.toContain('get_x.free');
    expect(text).not.toContain('get_x.left');
  });

  it('asks only for the directory if a spec file is given', async () => {
    const { value } = await drive(enterAt('directory', 'platform', 'write'), {
      given: { spec: 'tools.json' },
    });
    expect(value).toEqual(completeAnswers({ spec: 'tools.json' }));
  });

  it('takes fields as lines: two inputs and a nested list output in 9 prompts', async () => {
    const { value, text } = await drive([
      [prompts.directory, 'gas', enter],
      [prompts.tool, 'get gas', enter],
      ['Write get_gas.', ctrlU, 'get_gas', enter],
      [prompts.description, 'Returns gas prices. Use it before sending.', enter],
      [prompts.effect, enter],
      [prompts.input, 'chain:string(base, ethereum)=base Chain to look up', enter],
      ['one of base, ethereum', 'limit?:integer=10', enter, enter],
      [prompts.returns, down, enter],
      ['What does each item contain?', 'fees[].gwei:number(examples=1.5) Price in gwei', enter],
      ['fees[].gwei', enter],
      [prompts.platform, down, enter],
      [prompts.write, enter],
    ]);
    expect(value).toEqual({
      directory: 'gas',
      source: {
        kind: 'tool',
        tool: {
          name: 'get_gas',
          description: 'Returns gas prices. Use it before sending.',
          effect: 'reads',
          input: [
            {
              name: 'chain',
              required: true,
              type: 'string',
              enum: ['base', 'ethereum'],
              default: 'base',
              description: 'Chain to look up',
            },
            { name: 'limit', type: 'integer', default: 10 },
          ],
          output: [fees],
          returns: 'list',
        },
        meta: [],
      },
      platform: 'context',
      packageManager: null,
    });
    expect(text.match(/^◇ /gm)?.length).toBeLessThanOrEqual(12);
  });

  it('asks for a field step by step on Tab, including nested ones and lists, with an error at each prompt', async () => {
    const { returns: _, output: __, ...given } = known;
    const { value } = await drive(
      [
        [prompts.input, tab],
        ['Name of the parameter', 'gas price', enter],
        ['Write gasPrice or gas_price.', ctrlU, 'chain', enter],
        ['Type of chain', enter],
        ['What does chain mean?', 'Chain to look up', enter],
        ['Is chain required?', enter],
        ['Allowed values of chain', 'base, ethereum', enter],
        ['Default of chain', 'polygon', enter],
        ['does not match its field', ctrlU, 'base', enter],
        ['1  chain:string(base|ethereum)=base Chain to look up', tab],
        ['Name of the parameter', 'chain', enter],
        ['already exists', ctrlU, 'limit', enter],
        ['Type of limit', down, down, enter],
        ['What does limit mean?', enter],
        ['Is limit required?', down, enter],
        ['Allowed values of limit', enter],
        ['Default of limit', 'five', enter],
        ['"five" is not an integer. Write a whole number such as 10.', ctrlU, '10', enter],
        ['Examples of limit', '10, 20', enter],
        ['2  limit?:integer(examples=10|20)=10', enter],
        [prompts.returns, enter],
        [prompts.output, tab],
        ['Name of the field', 'fees', enter],
        ['Type of fees', up, enter],
        ['What does fees mean?', enter],
        ['Is fees always present?', enter],
        ['Name of the field of fees', 'gwei', enter],
        ['Type of fees.gwei', down, enter],
        ['What does fees.gwei mean?', 'Price in gwei', enter],
        ['Is fees.gwei always present?', enter],
        ['Allowed values of fees.gwei', enter],
        ['Examples of fees.gwei', '1.5', enter],
        ['Another field of fees?', enter],
        ['2  fees[].gwei:number(examples=1.5) Price in gwei', enter],
        [prompts.write, enter],
      ],
      { given },
    );
    expect(value?.source).toMatchObject({
      tool: {
        input: [
          { name: 'chain', required: true, enum: ['base', 'ethereum'], default: 'base' },
          { name: 'limit', type: 'integer', default: 10, examples: [10, 20] },
        ],
        output: [fees],
      },
    });
  });

  it('returns to the answers if they cannot be built, and lets one be changed', async () => {
    let reviews = 0;
    const { value, text } = await drive(
      [
        ...enterAt('directory', 'tool', 'description', 'effect', 'input', 'returns', 'output', 'platform'),
        ['This definition is not valid yet.', enter],
        ['Which answer?', down, down, enter],
        [prompts.tool, ctrlU, 'get_time', enter],
        [prompts.write, enter],
      ],
      {
        review: (answers) => {
          reviews += 1;
          return reviews === 1
            ? { ok: false, errors: [inputError('get_record', 'x', 'is taken', 'Rename it.')] }
            : { ok: true, value: [JSON.stringify(answers)] };
        },
      },
    );
    expect(text).toContain('get_record is taken. Rename it.');
    expect(value?.source).toMatchObject({ tool: { name: 'get_time' } });
  });

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
      [prompts.start, down, down, enter],
      [prompts.directory, enter],
      ['Which OpenAPI document?', 'nowhere.json', enter],
      ['there is no such file', ctrlU, document, enter],
      ['Which of the 3 operations?', 'the fee'],
      ['1 match', tab, enter],
      [prompts.platform, enter],
      [prompts.write, enter],
    ]);
    expect(value?.source).toMatchObject({ kind: 'openapi', document, operations: ['GET /fee'] });
    expect(text).not.toContain(prompts.tool);
  });

  it('starts from sample answers or a spec file, and checks their paths', async () => {
    const place = directory();
    const [one, two] = [join(place, 'a.json'), join(place, 'b.json')];
    for (const file of [one, two]) writeFileSync(file, '{"gwei":1}');
    const sampled = await drive([
      [prompts.start, down, enter],
      [prompts.directory, enter],
      ['Which files contain answers', `${one}, ${two}`, enter],
      ...enterAt('tool', 'description', 'effect', 'input', 'platform', 'write'),
    ]);
    expect(sampled.value?.source).toMatchObject({ kind: 'sample', paths: [one, two] });
    const spec = await drive([
      [prompts.start, up, enter],
      [prompts.directory, enter],
      ['Which spec file?', one, enter],
      ...enterAt('platform', 'write'),
    ]);
    expect(spec.value?.source).toMatchObject({ kind: 'file', path: one });
  });

  it('changes the later questions when the author goes back to the start', async () => {
    const { value } = await drive([
      [prompts.start, up, enter],
      [prompts.directory, esc],
      [prompts.start, down, enter],
      ...enterAt(
        'directory',
        'tool',
        'description',
        'effect',
        'input',
        'returns',
        'output',
        'platform',
        'write',
      ),
    ]);
    expect(value).toEqual(completeAnswers({}));
  });

  it('refuses a directory that is not empty, and suggests a free one', async () => {
    const directoryError: CreatePrompts['directoryError'] = (directory) =>
      directory === 'my-tool'
        ? inputError('[directory]', directory, 'is not empty', 'Choose another.')
        : undefined;
    const others = enterAt(
      'tool',
      'description',
      'effect',
      'input',
      'returns',
      'output',
      'platform',
      'write',
    );
    const typed = [
      [prompts.directory, 'my-tool', enter],
      ['is not empty', ctrlU, 'free', enter],
    ] as const;
    expect((await drive([...typed, ...others], { directoryError })).value?.directory).toBe('free');
    expect((await drive([...enterAt('directory'), ...others], { directoryError })).value?.directory).toBe(
      'my-tool-2',
    );
  });

  it('prints no control characters of answers', async () => {
    const { text } = await drive(enterAt('effect', 'input', 'returns', 'output', 'write'), {
      given: { directory: 'x', tool: 'a', description: 'b', platform: 'generic' },
      review: () => ({ ok: true, value: ['\u001b]0;owned\u0007 \u0007'] }),
    });
    expect(text).not.toContain('\u0007');
  });
});

describe('lines of fields', () => {
  /** The input fields that result from keys in the editor. */
  async function inputOf(...answers: Answer[]) {
    const { value, text } = await drive([...answers, [prompts.write, enter]], { given: known });
    return { input: value?.source.kind === 'tool' ? value.source.tool.input : undefined, text };
  }

  it('Enter does not leave a line with an error, which is shown below it', async () => {
    const { input } = await inputOf(
      [prompts.input, 'chain:strng', enter],
      ['"strng" is not a type (after "chain:"). Did you mean string?', ctrlU, 'chain:string', enter, enter],
    );
    expect(input).toEqual([{ name: 'chain', required: true, type: 'string' }]);
  });

  it('a contradiction is shown at the later line, and Enter at the end moves there', async () => {
    const { input } = await inputOf(
      [prompts.input, 'a:string', enter, 'b:string', enter],
      ['3  █', up, up, ctrlU, 'b:number', down, down, enter],
      ['b is declared twice', ctrlU, 'c:string', enter, enter],
    );
    expect(input?.map(({ name, type }) => `${name}:${type}`)).toEqual(['b:number', 'c:string']);
  });

  it('Tab completes types and options, one candidate after the other', async () => {
    const { input } = await inputOf(
      [prompts.input, 'n?:int'],
      ['Tab: integer · integer[]', tab, '(m', tab, '1, m', tab, tab, '9)', enter, enter],
    );
    expect(input).toEqual([{ name: 'n', type: 'integer', minimum: 1, maximum: 9 }]);
  });

  it('lines can be reordered, removed and taken from the suggestion', async () => {
    const lines = ['a:string', 'b:string', 'c:string'].flatMap((line) => [line, enter]);
    const { input } = await inputOf(
      [prompts.input, ...lines],
      ['4  █', up, shiftUp, shiftUp, down, ctrlK, down, enter],
    );
    expect(input?.map(({ name }) => name)).toEqual(['c', 'b']);
    const { output: _, ...given } = known;
    const { value } = await drive(
      [
        [prompts.input, right, ' now', enter, enter],
        [prompts.output, enter],
        [prompts.write, enter],
      ],
      { given },
    );
    expect(value?.source.kind === 'tool' && value.source.tool.input).toMatchObject([
      { name: 'query', description: 'What to look up: a name or an id now' },
    ]);
  });

  it('an input may have no fields, an output may not', async () => {
    expect((await inputOf([prompts.input, 'none', enter])).input).toEqual([]);
    expect((await inputOf([prompts.input, enter])).input).toEqual([]);
    const { output: _, ...given } = known;
    const { value } = await drive(
      [
        [prompts.output, 'none', enter],
        ['Write a name, a colon and a type', ctrlU, 'a:string', enter, enter],
        [prompts.write, enter],
      ],
      { given: { ...given, input: [] } },
    );
    expect(value?.source).toMatchObject({ tool: { output: [{ name: 'a' }] } });
  });
});

describe('a paste', () => {
  it('of several lines becomes several fields', async () => {
    const { value } = await drive(
      [
        [prompts.input, pasted('a:string First\n\tb?:integer=3 Second\n')],
        ['b     integer', enter],
        [prompts.write, enter],
      ],
      { given: known },
    );
    expect(value?.source).toMatchObject({
      tool: { input: [{ name: 'a' }, { name: 'b', default: 3, description: 'Second' }] },
    });
  });

  it.each([
    ['marked by the terminal', pasted('Returns prices.\nUse it often.\n')],
    ['not marked', 'Returns prices.\rUse it often.\r'],
  ])('of several lines into a single-line answer becomes one line, %s', async (_, text) => {
    const { description: __, ...given } = known;
    const { value } = await drive(
      [
        [prompts.description, text],
        ['Returns prices. Use it often.', enter],
        [prompts.write, enter],
      ],
      { given: { ...given, input: [] } },
    );
    expect(value?.source).toMatchObject({ tool: { description: 'Returns prices. Use it often.' } });
  });

  it('is refused with a message at a choice', async () => {
    const { platform: _, ...given } = known;
    const { value } = await drive(
      [
        [prompts.platform, pasted('jjj\njj\n')],
        ['This question does not accept pasted text (jjj jj).', enter],
        [prompts.write, enter],
      ],
      { given: { ...given, input: [] } },
    );
    expect(value?.platform).toBe('generic');
  });
});

describe('the effect of a call', () => {
  it('is derived from the name of the tool, and can be changed', async () => {
    const { effect: _, tool: __, ...given } = { ...known, input: [] };
    const effectOf = async (tool: string, ...typed: readonly string[]) => {
      const { value } = await drive([[prompts.effect, ...typed, enter], ...enterAt('write')], {
        given: { ...given, tool },
      });
      return value?.source.kind === 'tool' ? value.source.tool.effect : undefined;
    };
    expect(await effectOf('get_order')).toBe('reads');
    expect(await effectOf('delete_order')).toBe('changes');
    expect(await effectOf('create_order')).toBe('adds');
    expect(await effectOf('get_order', down)).toBe('computes');
  });
});

describe('going back', () => {
  it('is possible at every question, and the previous answer can be edited', async () => {
    for (const [i, prompt] of everyPrompt.entries()) {
      const { value } = await drive([
        ...everyPrompt.slice(0, i).map((before) => [before, enter] as const),
        [prompt, esc],
        ...everyPrompt.slice(Math.max(0, i - 1)).map((again) => [again, enter] as const),
      ]);
      expect(value).toEqual(completeAnswers({}));
    }
  });

  it('from the form returns to the lines and keeps them all', async () => {
    const { value } = await drive(
      [
        [prompts.input, 'a:string', enter, tab],
        ['Name of the parameter', 'b', enter],
        ['Type of b', esc],
        ['Name of the parameter', esc],
        ['1  a:string', enter],
        [prompts.write, enter],
      ],
      { given: known },
    );
    expect(value?.source).toMatchObject({ tool: { input: [{ name: 'a' }] } });
  });

  it('from the list of answers shows the review again', async () => {
    const { value } = await drive(
      [
        [prompts.write, down, enter],
        ['Which answer?', esc],
        [prompts.write, down, enter],
        ['Which answer?', down, enter],
        [prompts.tool, ctrlU, 'get_other', enter],
        [prompts.write, enter],
      ],
      { given: { ...known, input: [] } },
    );
    expect(value?.source).toMatchObject({ tool: { name: 'get_other' } });
  });
});

describe('Ctrl-C', () => {
  it('prints the command that continues with the answers so far, including incomplete lines', async () => {
    const { error } = await drive([
      [prompts.directory, 'gas', enter],
      [prompts.tool, 'get_gas', enter],
      [prompts.description, enter],
      [prompts.effect, enter],
      [prompts.input, 'chain:string', enter, 'limit:', ctrlC],
    ]);
    expect(JSON.parse((error as Cancelled).resume ?? '')).toEqual({
      start: 'blank',
      directory: 'gas',
      tool: 'get_gas',
      description: expect.stringContaining('gas'),
      effect: 'reads',
      input: [{ name: 'chain', required: true, type: 'string' }],
    });
  });

  it('is the only key that ends the program: Ctrl-D does nothing', async () => {
    const { value } = await drive([[prompts.write, ctrlD, enter]], { given: { ...known, input: [] } });
    expect(value?.directory).toBe('x');
  });
});

describe('cancels', () => {
  it.each(everyPrompt.map((prompt, i) => [prompt, i] as const))(
    'at "%s" writes nothing',
    async (prompt, i) => {
      for (const way of [ctrlC, 'end']) {
        const { error } = await drive([
          ...everyPrompt.slice(0, i).map((before) => [before, enter] as const),
          [prompt, way],
        ]);
        expect(error).toBeInstanceOf(Cancelled);
      }
    },
  );

  it('in the middle of a field, and by declining at the end', async () => {
    const start = enterAt('directory', 'tool', 'description', 'effect');
    for (const answers of [
      [...start, [prompts.input, tab], ['Name of the parameter', ctrlC]],
      [...start, [prompts.input, tab], ['Name of the parameter', 'a', enter], ['Type of a', 'end']],
      [...start, ...enterAt('input', 'returns', 'output', 'platform'), [prompts.write, down, down, enter]],
    ] as const) {
      expect((await drive(answers)).error).toBeInstanceOf(Cancelled);
    }
  });

  it('when the input has already ended', async () => {
    const input = new PassThrough();
    input.end();
    input.resume();
    await new Promise((resolve) => input.once('end', resolve));
    const asked = askCreate({
      given: {},
      review: () => ({ ok: true, value: [] }),
      resume: () => '',
      input,
      output: new PassThrough(),
    });
    await expect(asked).rejects.toBeInstanceOf(Cancelled);
  });
});
