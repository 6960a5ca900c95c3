import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keys } from '../keys.ts';
import { bins, compile, create, failuresOf, lendModules, prove, scratch } from './support.ts';
import { Terminal } from './terminal.ts';

const root = scratch();

function open(name: string): { cwd: string; terminal: Terminal } {
  const cwd = join(root, name);
  mkdirSync(cwd);
  const terminal = new Terminal(process.execPath, [bins.create, '--no-install', '--no-git'], { cwd });
  onTestFinished(() => terminal.kill());
  return { cwd, terminal };
}

/** What is asked on the way of Enter all the way, in order. */
const questions = [
  'Where shall the project be?',
  'What is the tool called?',
  'What does it return',
  'What does the tool take?',
  'One record or a list?',
  'What does the tool return?',
  'For which marketplace?',
  'Write it?',
];

describe('in a real terminal', () => {
  it('Enter all the way gives a sensible server', async () => {
    const { cwd, terminal } = open('enter');
    for (const question of questions) {
      await terminal.asked(question);
      terminal.press(keys.enter);
    }
    expect(await terminal.ended, terminal.text).toBe(0);
    await expectGreen(join(cwd, 'my-tool'));
  });

  it('every kind of answer arrives, and the line at the end repeats it', async () => {
    const { cwd, terminal } = open('all-answers');
    const type = async (question: string, ...input: string[]) => {
      await terminal.asked(question);
      terminal.press(...input, keys.enter);
    };
    const mend = async (fault: string, input: string) => {
      await terminal.waitFor(fault);
      terminal.press(keys.ctrlU, input, keys.enter);
    };
    const inOneBreath = async (question: string, key: 'y' | 'n') => {
      await terminal.asked(question);
      terminal.press(key + keys.enter);
    };
    const inTwo = async (question: string, key: 'y' | 'n') => {
      await terminal.asked(question);
      terminal.press(key);
      await terminal.waitFor(key === 'y' ? '● Yes' : '● No');
      terminal.press(keys.enter);
    };
    const typed = (index: number) => Array.from({ length: index }, () => keys.down);
    const types = { string: 0, number: 1, integer: 2, boolean: 3, object: 4, strings: 5, objects: 9 };

    await type('Where shall the project be?', 'gas prices!');
    await mend('Write gas-prices.', 'deep/gas-prices');
    await type('What is the tool called?', 'get_gas_price');
    await type(
      'What does it return',
      'Returns the gas price of a chain; use it before a transaction is sent.',
    );
    await type('What does the tool take?', keys.down);

    await type('Name of the parameter', 'chain');
    await type('Type of chain', ...typed(types.string));
    await type('What does chain say?', 'Chain "to" look `up` ${now}');
    await type('Must chain be given?');
    await type('Allowed values of chain', 'base | ethereum | atlantis');
    await type('Default of chain', 'base');
    await inTwo('Another parameter?', 'y');

    await type('Name of the parameter', 'limit');
    await type('Type of limit', ...typed(types.integer));
    await type('What does limit say?', 'How many');
    await inTwo('Must limit be given?', 'n');
    await type('Allowed values of limit');
    await type('Default of limit', 'ten');
    await mend('Write 10.', '10');
    await type('Examples of limit', '5 | 20');
    await inOneBreath('Another parameter?', 'y');

    await type('Name of the parameter', 'tags');
    await type('Type of tags', ...typed(types.strings));
    await type('What does tags say?', 'Labels');
    await type('Must tags be given?', keys.right);
    await type('Default of tags');
    await type('Examples of tags');
    await type('Another parameter?');

    await type('One record or a list?', keys.down);
    await type('What does each item hold?', keys.down);
    await type('Name of the field', 'gwei');
    await type('Type of gwei', ...typed(types.number));
    await type('What does gwei say?', 'Price');
    await type('Is gwei always there?');
    await type('Allowed values of gwei');
    await type('Examples of gwei', '0.5 | 12');
    await inTwo('Another field?', 'y');

    await type('Name of the field', 'history');
    await type('Type of history', ...typed(types.objects));
    await type('What does history say?', 'Blocks');
    await inOneBreath('Is history always there?', 'n');
    await type('Name of the field of history', 'block');
    await type('Type of history.block', ...typed(types.integer));
    await type('What does history.block say?', 'Number');
    await type('Is history.block always there?');
    await type('Allowed values of history.block');
    await type('Examples of history.block');
    await type('Another field of history?');
    await type('Another field?');

    await type('For which marketplace?', keys.down);
    await type('Write it?');
    expect(await terminal.ended, terminal.text).toBe(0);

    const made = join(cwd, 'deep/gas-prices');
    await expectGreen(made);
    const repeat = /To repeat without questions: node \S+create-market-mcp\.js (.*)$/s.exec(
      terminal.text,
    )?.[1];
    expect(repeat).toBeDefined();

    const manifest = JSON.parse(readFileSync(join(made, 'market-mcp.json'), 'utf8'));
    expect(manifest.platform).toBe('context');
    const source = readFileSync(join(made, 'src/tools/get-gas-price.ts'), 'utf8');
    expect(source).toContain("enum: ['base', 'ethereum', 'atlantis']");
    expect(source).toContain('Chain "to" look `up` ${now}');
  });

  it('what is typed before a question stands does not answer it', async () => {
    const { terminal } = open('hasty');
    terminal.press('hasty', keys.enter);
    await terminal.asked('Where shall the project be?');
    terminal.press('unhurried', keys.enter);
    await terminal.waitFor('◇  Where shall the project be?');
    await terminal.waitFor('│  unhurried');
    await terminal.asked('What is the tool called?');
  });

  it.each(questions.map((question, step) => ({ question, step })))(
    'cancelled at "$question": exit 130, nothing written',
    async ({ step }) => {
      for (const [how, key] of [
        ['interrupt', keys.ctrlC],
        ['escape', keys.escape],
      ] as const) {
        const { cwd, terminal } = open(`cancel-${step}-${how}`);
        for (const earlier of questions.slice(0, step)) {
          await terminal.asked(earlier);
          terminal.press(keys.enter);
        }
        await terminal.asked(String(questions[step]));
        terminal.press(key);
        expect(await terminal.ended, terminal.text).toBe(130);
        expect(readdirSync(cwd)).toEqual([]);
      }
    },
  );
});

describe('the line that repeats it', () => {
  it('really does: a shell that runs it writes the same files', async () => {
    const cwd = join(root, 'repeat');
    mkdirSync(cwd);
    const first = await create(
      [
        'first',
        '--yes',
        '--no-install',
        '--no-git',
        '--tool',
        'get_it',
        '--description',
        `Returns "it" for you & me; use it when \`x\` isn't $HOME or $(id).`,
        '--input',
        "q:string='a b' It's what to look for",
        '--output',
        'rows[].value:number A "value"',
      ],
      { cwd },
    );
    expect(first.status, first.stderr).toBe(0);
    const line = /To repeat without questions: (.*)/s.exec(first.stdout)?.[1];
    expect(line).toBeDefined();
    const again = String(line).replace('create-market-mcp.js first ', 'create-market-mcp.js second ');
    const { execa } = await import('execa');
    const ran = await execa('sh', ['-c', again], {
      cwd,
      reject: false,
    });
    expect(ran.exitCode, ran.stderr).toBe(0);
    for (const file of [
      'src/tools/get-it.ts',
      'test/tools/get-it.test.ts',
      'src/platform.ts',
      'src/tools/index.ts',
    ]) {
      expect(readFileSync(join(cwd, 'second', file), 'utf8')).toBe(
        readFileSync(join(cwd, 'first', file), 'utf8'),
      );
    }
  });
});

async function expectGreen(directory: string): Promise<void> {
  expect(existsSync(join(directory, 'package.json'))).toBe(true);
  lendModules(directory);
  const built = await compile(directory);
  expect(built.status, built.stdout).toBe(0);
  const { report, unitTests } = await prove(directory);
  expect(failuresOf(report).filter((failure) => !isAdvice(report, failure))).toEqual([]);
  expect(report.ok).toBe(true);
  expect(unitTests, unitTests.stdout).toMatchObject({ status: 0 });
}

function isAdvice(report: Awaited<ReturnType<typeof prove>>['report'], failure: unknown): boolean {
  return report.rules.some(({ id, level }) => id === (failure as { id: string }).id && level === 'should');
}
