import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveHere } from '../api-server.ts';
import { keys } from '../keys.ts';
import { bins, create, scratch, succeeded, tree } from './support.ts';
import { Terminal } from './terminal.ts';
import { serveTools } from './upstreams.ts';

const { ctrlC, ctrlU, down, enter, escape: esc, tab, up } = keys;
const root = scratch();

/** Tools without examples of their parameters: the placeholders are asked for. */
const tools = ['get_price', 'get_fee'].map((name) => ({
  name,
  description: 'Returns a price. Use it when a question asks for it.',
  inputSchema: {
    type: 'object',
    properties: { pair: { type: 'string', pattern: '^[a-z]{3}$', description: 'Pair' } },
    required: ['pair'],
  },
  outputSchema: { type: 'object', properties: { price: { type: 'number', description: 'Price' } } },
}));
const responses = {
  200: { content: { 'application/json': { schema: { type: 'object', properties: { a: {} } } } } },
};
const operations = ['gas', 'fee', 'pool'].map((name) => [
  `/${name}`,
  { get: { operationId: `get_${name}`, responses } },
]);

/** A directory with a file for each start. */
function place(name: string): string {
  const cwd = join(root, name);
  mkdirSync(cwd);
  const write = (file: string, content: unknown) => writeFileSync(join(cwd, file), JSON.stringify(content));
  write('sample.json', { gwei: 1.5 });
  write('tools.json', tools);
  write('api.json', { openapi: '3.1.0', info: { title: 'T' }, paths: Object.fromEntries(operations) });
  return cwd;
}

/** A question, the keys of its answer before Enter, and text that is typed before it is left. */
type Asked = readonly [question: string, answer: readonly string[], draft?: string];

const described = (name: string): readonly Asked[] => [
  ['What is the tool called?', [name], 'get it'],
  ['What does a call do?', []],
  ['What are the inputs of the tool?', ['chain:string(base, ethereum)=base Chain', enter], 'chain:str'],
  ['What does the tool return, and', ['Returns "it"; use it.'], 'Returns th'],
];
const blank: readonly Asked[] = [
  ...described('get_gas'),
  ['One record or a list?', [down]],
  ['What does each item contain?', ['gwei:number Price', enter], 'gwei:num'],
];
const starts: readonly (readonly [start: string, moves: readonly string[], asked: readonly Asked[]])[] = [
  ['Blank', [down], blank],
  [
    'A sample answer',
    [down, down],
    [['Which files contain answers', ['sample.json'], 'other.js'], ...described('get_sampled')],
  ],
  [
    'An OpenAPI document',
    [down, down, down],
    [
      ['Which OpenAPI document?', ['api.json'], 'other.js'],
      ['Which of the 3 operations?', [down, tab]],
      ['What does get_fee return, and', ['Returns "it"; use it.'], 'Returns th'],
    ],
  ],
  [
    'A running MCP server',
    [up, up],
    [
      ['Where is the MCP server?', [await serveTools('Prices', tools)], 'http://127'],
      ['Which of the 2 tools?', [tab]],
      ['What does get_price return, and', [], 'Returns th'],
    ],
  ],
  [
    'A spec file',
    [up],
    [
      ['Which spec file?', ['tools.json'], 'other.js'],
      ['Example of get_price.pair', ['eth'], 'et'],
      ['Example of get_fee.pair', ['btc'], 'bt'],
    ],
  ],
];

/** A terminal that runs a command line of a shell. */
function open(command: string, cwd: string): Terminal {
  const terminal = new Terminal('sh', ['-c', `exec ${command}`], { cwd });
  return terminal;
}

/** The first question that is asked. */
async function firstQuestion(terminal: Terminal): Promise<string> {
  await terminal.waitFor('◆  ');
  await terminal.waitFor('└');
  return terminal.screen.find((line) => line.startsWith('◆  '))?.slice(3) ?? '';
}

/** The command that a stopped program printed. */
function resumeOf(terminal: Terminal): string {
  return /To continue with the answers given so far:\s+([^\r\n]*)/.exec(terminal.text)?.[1] ?? '';
}

/**
 * At each question: types a text and goes back, returns to find the text, stops, and expects that the printed command asks the
 * same question first. Each question is answered by another process.
 */
async function stopAtEach(command: string, cwd: string, asked: readonly Asked[]): Promise<void> {
  const before = tree(cwd);
  let line = command;
  for (const [i, [question, answer]] of asked.entries()) {
    const terminal = open(line, cwd);
    expect(await firstQuestion(terminal)).toContain(question);
    terminal.press(...answer, enter);
    const [next = 'Write it?', , nextDraft] = asked[i + 1] ?? [];
    await terminal.asked(next);
    if (nextDraft !== undefined) {
      terminal.press(nextDraft);
      await terminal.shows(nextDraft);
    }
    terminal.press(esc);
    await terminal.asked(question);
    terminal.press(enter);
    await terminal.asked(next);
    if (nextDraft !== undefined) await terminal.shows(`${nextDraft}█`);
    terminal.press(ctrlC);
    expect(await terminal.ended, terminal.text).toBe(130);
    expect(tree(cwd)).toEqual(before);
    line = resumeOf(terminal);
  }
  const last = open(line, cwd);
  expect(await firstQuestion(last)).toBe('Write it?');
  last.press(enter);
  expect(await last.ended, last.text).toBe(0);
}

const node = `'${process.execPath}'`;

it.each(starts)(
  'create-market-mcp, %s: each question can be left and resumed',
  async (start, moves, asked) => {
    const cwd = place(`create ${start}`);
    await stopAtEach(`${node} '${bins.create}' --no-install --no-git`, cwd, [
      ['Start from', moves],
      ['Where should the project be created?', ['gas'], 'ga s'],
      ...asked,
      ['For which marketplace?', []],
    ]);
    expect(readdirSync(join(cwd, 'gas'))).toContain('market-mcp.json');
  },
);

describe('market-mcp add-tool', () => {
  // What the others ask, create asks in the same words.
  const few = starts.filter(([start]) => start === 'Blank' || start === 'A running MCP server');
  it.each(few)('%s: each question can be left and resumed', async (start, moves, asked) => {
    const cwd = place(`add ${start}`);
    await succeeded(create(['server', '--yes', '--no-install', '--no-git'], { cwd }));
    const server = join(cwd, 'server');
    for (const file of ['sample.json', 'tools.json', 'api.json'])
      renameSync(join(cwd, file), join(server, file));
    await stopAtEach(`${node} '${bins.market}' add-tool --no-check`, server, [
      ['Start from', moves],
      ...asked,
    ]);
    const { tools: all } = JSON.parse(readFileSync(join(server, 'market-mcp.json'), 'utf8')).answers;
    expect(all.length).toBeGreaterThan(1);
  });
});

describe('Ctrl-C', () => {
  it('in the step-by-step form keeps the lines that are done, and asks for the inputs again', async () => {
    const cwd = place('form');
    const command = `${node} '${bins.create}' gas --no-install --no-git --tool get_gas --description Gas. --effect reads`;
    const terminal = open(command, cwd);
    await terminal.asked('What are the inputs of the tool?');
    terminal.press('chain:string Chain', enter);
    await terminal.waitFor('2  █');
    terminal.press(tab);
    await terminal.asked('Name of the parameter');
    terminal.press(ctrlC);
    expect(await terminal.ended, terminal.text).toBe(130);
    const again = open(resumeOf(terminal), cwd);
    expect(await firstQuestion(again)).toContain('What are the inputs of the tool?');
    await again.shows('chain:string Chain');
  });

  it('and SIGTERM keep the fields that are typed', async () => {
    const cwd = place('typed');
    const command = `${node} '${bins.create}' gas --no-install --no-git --tool get_gas --description Gas. --effect reads`;
    const leave = [
      (terminal: Terminal) => terminal.press(ctrlC),
      (terminal: Terminal) => terminal.kill('SIGTERM'),
    ];
    for (const [i, end] of leave.entries()) {
      const terminal = open(command, cwd);
      await terminal.asked('What are the inputs of the tool?');
      terminal.press('chain:string Chain', enter, 'limit:');
      await terminal.shows('limit:█');
      end(terminal);
      expect(await terminal.ended, terminal.text).toBe([130, 143][i]);
      expect(resumeOf(terminal)).toContain("--input 'chain:string Chain' --ask input");
    }
  });

  it('while a server is asked for its tools keeps its address', async () => {
    const cwd = place('silent');
    const http = createServer();
    const asked = once(http, 'request');
    const url = `${await serveHere(http)}/mcp`;
    const terminal = open(`${node} '${bins.create}' gas --no-install --no-git`, cwd);
    await terminal.asked('Start from');
    terminal.press(up, up, enter);
    await terminal.asked('Where is the MCP server?');
    terminal.press(url, enter);
    await asked;
    terminal.press(ctrlC);
    expect(await terminal.ended, terminal.text).toBe(130);
    const again = open(resumeOf(terminal), cwd);
    expect(await firstQuestion(again)).toBe('Where is the MCP server?');
    await again.shows(`${url}█`);
  });
});

it('Escape at the only question cancels', async () => {
  const cwd = place('only-question');
  await succeeded(create(['server', '--yes', '--no-install', '--no-git'], { cwd }));
  const terminal = open(`${node} '${bins.create}' server --no-install --no-git`, cwd);
  await terminal.asked('server already contains a project');
  terminal.press(esc);
  expect(await terminal.ended, terminal.text).toBe(130);
  expect(terminal.text).toContain('cancelled, nothing was written');
});

it('--ask without a terminal is refused', async () => {
  const cwd = place('no-terminal');
  const before = tree(cwd);
  for (const flags of [['--yes'], ['--json'], []]) {
    const ran = await create(['gas', '--ask', 'from-sample', ...flags], { cwd });
    expect(ran.status).toBe(2);
    expect(ran.stdout + ran.stderr).toContain('--ask needs a terminal');
    expect(tree(cwd)).toEqual(before);
  }
});

it('in a terminal of 60 columns and 15 rows, no frame of the field editor is higher than the terminal', async () => {
  const cwd = place('small');
  const terminal = new Terminal(
    process.execPath,
    [bins.create, 'gas', '--tool', 'get_gas', '--description', 'Gas.', '--effect', 'reads'],
    { cwd, columns: 60, rows: 15 },
  );
  await terminal.asked('What are the inputs of the tool?');
  terminal.press('chain:string(base, ethereum)=base Chain', enter);
  await terminal.waitFor('2  █');
  terminal.press('limit?:integer=five', enter);
  await terminal.waitFor('whole number such as 10');
  terminal.press(ctrlU, 'limit?:integer=5', enter);
  await terminal.waitFor('3  █');
  terminal.press(ctrlC);
  expect(await terminal.ended, terminal.text).toBe(130);
  const questions = terminal.screen.filter((line) => line.includes('What are the inputs of the tool?'));
  expect(questions).toHaveLength(1);
});
