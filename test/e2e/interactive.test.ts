import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startApi } from '../api-server.ts';
import { keys, pasted } from '../keys.ts';
import { bins, compile, create, expectProven, lendModules, scratch, succeeded, tree } from './support.ts';
import { Terminal } from './terminal.ts';

const root = scratch();

function open(name: string, env: Record<string, string> = {}): { cwd: string; terminal: Terminal } {
  const cwd = join(root, name);
  mkdirSync(cwd);
  const terminal = new Terminal(process.execPath, [bins.create, '--no-install', '--no-git'], { cwd, env });
  return { cwd, terminal };
}

/** The questions in order of a blank start, when every other answer is Enter. */
const questions = [
  'Start from',
  'Where should the project be created?',
  'What is the tool called?',
  'What does a call do?',
  'What are the inputs of the tool?',
  'What does the tool return, and',
  'One record or a list?',
  'What does the tool return?',
  'For which marketplace?',
  'Write it?',
];

describe('in a real terminal', () => {
  it('Enter at every prompt creates what --yes does', async () => {
    const { cwd, terminal } = open('enter');
    for (const question of questions) {
      await terminal.asked(question);
      terminal.press(...(question === 'Start from' ? [keys.down] : []), keys.enter);
    }
    expect(await terminal.ended, terminal.text).toBe(0);
    const other = scratch();
    await succeeded(create(['my-tool', '--yes', '--no-install', '--no-git'], { cwd: other }));
    expect(tree(join(cwd, 'my-tool'))).toEqual(tree(join(other, 'my-tool')));
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

    await type('Start from', keys.down);
    await type('Where should the project be created?', 'gas prices!');
    await fix('Write gas-prices.', 'deep/gas-prices');
    await type('What is the tool called?', 'get_gas_price');
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
    await type(
      'What does the tool return, and',
      'Returns the gas price of a chain; use it before a transaction is sent.',
    );
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

  it('text typed before a question appears does not answer it', async () => {
    const { terminal } = open('hasty');
    terminal.press('hasty', keys.enter);
    await terminal.asked('Start from');
    terminal.press(keys.down, keys.enter);
    await terminal.asked('Where should the project be created?');
    terminal.press('unhurried', keys.enter);
    await terminal.waitFor('◇  Where should the project be created?');
    await terminal.waitFor('│  unhurried');
    await terminal.asked('What is the tool called?');
  });
});

async function expectGreen(directory: string): Promise<void> {
  lendModules(directory);
  await succeeded(compile(directory));
  await expectProven(directory);
}

it('a pasted curl command is sent once; the variable of the environment stays there after Enter, and the typed key is written to .env alone', async () => {
  const { origin, requests } = await startApi(({ target }) =>
    target.startsWith('/movie/9') ? { status: 404, body: {} } : { body: { id: 550, title: 'Fight Club' } },
  );
  const { cwd, terminal } = open('pasted', { FILM_TOKEN: 'an0ther-key-of-the-author' });
  const type = async (question: string, ...input: string[]) => {
    await terminal.asked(question);
    terminal.press(...input, keys.enter);
  };
  await type('Start from');
  const lines = [
    `curl --url '${origin}/movie/550?language=en-US' \\`,
    "  -H 'authorization: Bearer $FILM_TOKEN'",
  ];
  await type('Paste a curl command, or', pasted(lines.join('\r')));
  await type('Where should the project be created?', 'films');
  await type('What is the tool called?');
  await type('Which values of the request are inputs of the tool?');
  await type(`Send FILM_TOKEN from your environment to ${origin}?`);
  await type('Value of FILM_TOKEN', 's3cret-film-token');
  await type('A value that finds nothing', 'movie_id=9');
  await type('What does get_movie return, and when should an agent use it?');
  await terminal.waitFor('Returns one movie: id, title.');
  await type('For which marketplace?');
  await terminal.asked('Write it?');
  terminal.press(keys.enter);
  expect(await terminal.ended, terminal.text).toBe(0);
  expect(requests.map(({ target, headers }) => [target, headers.authorization])).toEqual([
    ['/movie/550?language=en-US', 'Bearer s3cret-film-token'],
    ['/movie/9?language=en-US', 'Bearer s3cret-film-token'],
  ]);
  const tool = readFileSync(join(cwd, 'films/src/tools/get-movie.ts'), 'utf8');
  expect(tool).toMatch(/movie_id: '?9'?.*expect: 'empty'/s);
  expect(tool).toContain("notFound: 'empty'");
  expect(terminal.text).not.toMatch(/s3cret|an0ther|--env/);
  expect(readFileSync(join(cwd, 'films/.env'), 'utf8')).toBe('FILM_TOKEN=s3cret-film-token\n');
  await expectGreen(join(cwd, 'films'));

  // The project has this key by another name than the page does; below its root, too.
  const added = new Terminal(
    process.execPath,
    [
      bins.market,
      'add-tool',
      '--no-check',
      '--from-request',
      `curl ${origin}/cast -H 'authorization: Bearer $KEY'`,
    ],
    { cwd: join(cwd, 'films/src') },
  );
  for (const question of ['What is the tool called?', 'What does get_cast return', 'Write it?']) {
    await added.asked(question);
    added.press(keys.enter);
  }
  expect(await added.ended, added.text).toBe(0);
  expect(added.text).not.toContain('Value of');
  expect(requests.at(-1)).toMatchObject({
    target: '/cast',
    headers: { authorization: 'Bearer s3cret-film-token' },
  });
  expect(readFileSync(join(cwd, 'films/.env'), 'utf8')).toBe('FILM_TOKEN=s3cret-film-token\n');
});
