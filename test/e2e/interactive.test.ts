import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apiDocuments } from '../import/api-documents.ts';
import { keys, pasted } from '../keys.ts';
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

/** The questions in order when every answer is Enter. */
const questions = [
  'Start from',
  'Where should the project be created?',
  'What is the tool called?',
  'What does the tool return, and',
  'What does a call do?',
  'What are the inputs of the tool?',
  'One record or a list?',
  'What does the tool return?',
  'For which marketplace?',
  'Write it?',
];

describe('in a real terminal', () => {
  it('Enter at every prompt creates a working server', async () => {
    const { cwd, terminal } = open('enter');
    for (const question of questions) {
      await terminal.asked(question);
      terminal.press(keys.enter);
    }
    expect(await terminal.ended, terminal.text).toBe(0);
    await expectGreen(join(cwd, 'my-tool'));
  });

  it('at most 12 prompts take every kind of answer, and the printed command repeats it', async () => {
    const { cwd, terminal } = open('all-answers');
    const type = async (question: string, ...input: string[]) => {
      await terminal.asked(question);
      terminal.press(...input, keys.enter);
    };
    const fix = async (words: string, input: string) => {
      await terminal.waitFor(words);
      terminal.press(keys.ctrlU, input, keys.enter);
    };

    await type('Start from');
    await type('Where should the project be created?', 'gas prices!');
    await fix('Write gas-prices.', 'deep/gas-prices');
    await type('What is the tool called?', 'get_gas_price');
    await type(
      'What does the tool return, and',
      'Returns the gas price of a chain; use it before a transaction is sent.',
    );
    await type('What does a call do?');
    await type(
      'What are the inputs of the tool?',
      'chain:string(base, ethereum, atlantis)=base Chain "to" look `up` ${now}',
    );
    await terminal.waitFor('2  █');
    terminal.press('limit?:int');
    await terminal.waitFor('Tab: integer');
    terminal.press(keys.tab, '=ten', keys.enter);
    await fix('Write a whole number such as 10.', 'limit?:integer(examples=5|20)=10 How many');
    await terminal.waitFor('3  █');
    terminal.press(keys.enter);
    await type('One record or a list?', keys.down);
    await type('What does each item contain?', 'gwei:number(examples=0.5|12) Price');
    await terminal.waitFor('2  █');
    terminal.press(pasted('history?:object[] Blocks\nhistory[].block:integer Number\n'));
    await terminal.waitFor('history[].block');
    terminal.press(keys.enter);
    await type('For which marketplace?', keys.down);
    await terminal.waitFor('Example call {"chain":"base"}');
    for (const outcome of ['found', 'empty', 'failed']) await terminal.waitFor(outcome);
    await type('Write it?');
    expect(await terminal.ended, terminal.text).toBe(0);
    const prompts = terminal.screen.filter((line) => line.startsWith('◇') && !line.includes('This will be'));
    expect(prompts.length).toBeLessThanOrEqual(12);

    const made = join(cwd, 'deep/gas-prices');
    await expectGreen(made);
    const repeat = /To repeat this without questions: node \S+create-market-mcp\.js (.*)$/s.exec(
      terminal.text,
    )?.[1];
    expect(repeat).toBeDefined();

    const manifest = JSON.parse(readFileSync(join(made, 'market-mcp.json'), 'utf8'));
    expect(manifest.platform).toBe('context');
    const source = readFileSync(join(made, 'src/tools/get-gas-price.ts'), 'utf8');
    expect(source).toContain("enum: ['base', 'ethereum', 'atlantis']");
    expect(source).toContain('Chain "to" look `up` ${now}');
  });

  it('typing filters the operations of an OpenAPI document, and Tab selects one', async () => {
    const { cwd, terminal } = open('operations');
    const [gas] = apiDocuments;
    const { paths, ...rest } = load(gas?.text ?? '') as {
      paths: { readonly [path: string]: { get: { responses: object } } };
    };
    const many = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [
        `/other/${i}`,
        { get: { operationId: `other${i}`, responses: paths['/gas/{chain}']?.get.responses } },
      ]),
    );
    writeFileSync(join(cwd, 'api.json'), JSON.stringify({ ...rest, paths: { ...many, ...paths } }));
    await terminal.asked('Start from');
    terminal.press(keys.down, keys.down, keys.enter);
    await terminal.asked('Where should the project be created?');
    terminal.press('gas', keys.enter);
    await terminal.asked('Which OpenAPI document?');
    terminal.press('api.json', keys.enter);
    await terminal.asked('Which of the 301 operations?');
    terminal.press('price chain');
    await terminal.waitFor('(1 match)');
    terminal.press(keys.tab, keys.enter);
    await terminal.asked('For which marketplace?');
    terminal.press(keys.enter);
    await terminal.asked('Write it?');
    terminal.press(keys.enter);
    expect(await terminal.ended, terminal.text).toBe(0);
    expect(terminal.text).toContain("--operation 'GET /gas/{chain}'");
    expect(readdirSync(join(cwd, 'gas/src/tools'))).toEqual(['get-gas.ts', 'index.ts']);
  });

  it('in the step-by-step form each question takes one answer: y and Enter never answer the next one', async () => {
    const { terminal } = open('step-by-step');
    for (const question of questions.slice(0, 5)) {
      await terminal.asked(question);
      terminal.press(keys.enter);
    }
    const type = async (question: string, ...input: string[]) => {
      await terminal.asked(question);
      terminal.press(...input, keys.enter);
    };
    await terminal.asked('What are the inputs of the tool?');
    terminal.press(keys.tab);
    await type('Name of the parameter', 'gas price');
    await terminal.waitFor('Write gasPrice or gas_price.');
    terminal.press(keys.ctrlU, 'chain', keys.enter);
    await type('Type of chain');
    await type('What does chain mean?', 'Chain');
    await terminal.asked('Is chain required?');
    terminal.press(`y${keys.enter}`);
    await terminal.waitFor('│  Yes');
    await type('Allowed values of chain', 'base, ethereum');
    await type('Default of chain', 'base');
    await terminal.waitFor('1  chain:string(base|ethereum)=base Chain');
    terminal.press(keys.enter);
    await terminal.asked('One record or a list?');
    expect(terminal.screen.join('\n')).toContain(
      'chain  string, one of base, ethereum  yes       base     Chain',
    );
  });

  it('a paste is refused with a message at a choice, and is one answer in a text', async () => {
    const { cwd, terminal } = open('paste');
    await terminal.asked('Start from');
    terminal.press(keys.enter);
    await terminal.asked('Where should the project be created?');
    terminal.press(pasted('my\ntool\n'));
    await terminal.waitFor('my tool');
    terminal.press(keys.enter);
    await terminal.waitFor('Write my-tool.');
    terminal.press(keys.ctrlU, 'gas', keys.enter);
    for (const question of questions.slice(2, questions.indexOf('One record or a list?'))) {
      await terminal.asked(question);
      terminal.press(keys.enter);
    }
    await terminal.asked('One record or a list?');
    terminal.press(pasted('list\nlist\n'));
    await terminal.waitFor('This question does not accept pasted text');
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('Escape goes back at every question, and Ctrl-C prints a command that continues', async () => {
    const { cwd, terminal } = open('back');
    for (const [i, question] of questions.entries()) {
      await terminal.asked(question);
      if (i > 0) {
        terminal.press(keys.escape);
        await terminal.asked(String(questions[i - 1]));
        terminal.press(keys.enter);
        await terminal.asked(question);
      }
      if (question === 'What does the tool return, and')
        terminal.press(keys.ctrlU, 'Returns "it" isn\'t $HOME; use it.');
      if (question !== 'For which marketplace?') terminal.press(keys.enter);
      else {
        terminal.press(keys.ctrlC);
        break;
      }
    }
    expect(await terminal.ended, terminal.text).toBe(130);
    expect(readdirSync(cwd)).toEqual([]);

    const rest = /To continue with the answers given so far: node \S+create-market-mcp\.js ([^\r\n]*)/.exec(
      terminal.text,
    )?.[1];
    const again = new Terminal('sh', ['-c', `exec "$0" "$1" ${rest}`, process.execPath, bins.create], {
      cwd,
    });
    onTestFinished(() => again.kill());
    for (const question of ['For which marketplace?', 'Write it?']) {
      await again.asked(question);
      again.press(keys.enter);
    }
    expect(await again.ended, again.text).toBe(0);
    const source = readFileSync(join(cwd, 'my-tool/src/tools/get-record.ts'), 'utf8');
    expect(source).toContain('Returns "it" isn\\\'t $HOME; use it.');
  });

  it('text typed before a question appears does not answer it', async () => {
    const { terminal } = open('hasty');
    terminal.press('hasty', keys.enter);
    await terminal.asked('Start from');
    terminal.press(keys.enter);
    await terminal.asked('Where should the project be created?');
    terminal.press('unhurried', keys.enter);
    await terminal.waitFor('◇  Where should the project be created?');
    await terminal.waitFor('│  unhurried');
    await terminal.asked('What is the tool called?');
  });

  it.each(questions.map((question, step) => ({ question, step })))(
    'cancelled at "$question": exit 130, nothing written',
    async ({ step }) => {
      const { cwd, terminal } = open(`cancel-${step}`);
      for (const earlier of questions.slice(0, step)) {
        await terminal.asked(earlier);
        terminal.press(keys.enter);
      }
      await terminal.asked(String(questions[step]));
      terminal.press(keys.ctrlC);
      expect(await terminal.ended, terminal.text).toBe(130);
      expect(readdirSync(cwd)).toEqual([]);
    },
  );
});

describe('the printed command', () => {
  it('writes the same files in a shell', async () => {
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
    const line = /To repeat this without questions: (.*)/s.exec(first.stdout)?.[1];
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
