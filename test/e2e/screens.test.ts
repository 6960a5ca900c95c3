import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keys, pasted } from '../keys.ts';
import { bins, repository, scratch } from './support.ts';
import { Terminal } from './terminal.ts';
import { answering, openApi } from './upstreams.ts';

const root = scratch();
const intro = `# At the terminal

This page shows the questions of \`create-market-mcp\`. \`test/e2e/screens.test.ts\` takes these screens from a real run and
fails if they differ. \`npx vitest run --project e2e test/e2e/screens.test.ts -u\` takes them again.

Escape goes back to the previous question. It keeps what you have typed for when you come back. A suggestion that you accepted
is a suggestion again: typing replaces it. A file that you named is suggested again when you choose another start. Ctrl-C stops and prints the command
that resumes with all answers given so far, at the same question: \`--ask\` in this command names it. Each question also has a flag
(\`create-market-mcp --help\`).

The questions come in this order: the source, the directory, the name, the inputs, the description, the review. For a request, a value that
finds nothing comes before the description: each request is sent only once, and the description is derived from its answer.
`;

it('docs/terminal.md shows the screens of the program', async () => {
  const cwd = join(root, 'here');
  mkdirSync(cwd);
  const terminal = new Terminal(process.execPath, [bins.create, 'gas', '--no-install', '--no-git'], { cwd });
  const pages: string[] = [intro];
  /** The last question on the screen. */
  const take = (title: string, words: string, { screen } = terminal) => {
    const from = screen.findLastIndex((line) => /^[◆◇▲■]/.test(line));
    const shown = screen.slice(from).join('\n').trimEnd();
    const plain = shown.replace(/\d+ files in \S+/, '… files in gas').replaceAll(cwd, '.');
    pages.push(`## ${title}\n\n${words}\n\n\`\`\`\n${plain}\n\`\`\`\n`);
  };
  const answer = async (question: string, ...input: string[]) => {
    await terminal.asked(question);
    terminal.press(...input, keys.enter);
  };

  await terminal.asked('Start from');
  await terminal.shows('A spec file');
  take('The start', 'Each start also has a flag. With the flag, this question is not asked.');
  terminal.press(keys.down, keys.enter);
  await answer('What is the tool called?', 'get_gas_price');
  await terminal.asked('What does a call do?');
  await terminal.shows('It acts');
  take(
    'What a call does',
    'The choice follows from the name. The annotations of the tool follow from the choice.',
  );
  terminal.press(keys.enter);
  await terminal.asked('What are the inputs of the tool?');
  await terminal.waitFor('Esc goes back');
  await terminal.shows('Esc goes back');
  take(
    'The suggestion',
    'Enter accepts the suggestion. The right arrow turns it into text to edit. Typing replaces it.',
  );
  terminal.press('chain:string(base, ethereum)=base Chain to look up', keys.enter);
  await terminal.waitFor('2  █');
  terminal.press('limit?:int');
  await terminal.shows('limit?:int█');
  take(
    'Fields as lines',
    'Write one field per line, in the [field language](field-language.md). The table shows what the lines mean.',
  );
  terminal.press('eger=five', keys.enter);
  await terminal.shows('"five" is not an integer');
  take(
    'An error',
    'An error is shown below its line. Enter does not leave the line until you have corrected it.',
  );
  terminal.press(keys.ctrlU, 'limit?:integer=10 How many', keys.enter);
  await terminal.waitFor('3  █');
  terminal.press(keys.tab);
  await terminal.asked('Name of the parameter');
  terminal.press('gas limit', keys.enter);
  await terminal.shows('Write gasLimit or gas_limit.');
  take(
    'Step by step',
    'Tab on an empty line asks for one property of a field after the other. The answers become a line.',
  );
  terminal.press(keys.escape);
  await terminal.asked('What are the inputs of the tool?');
  await terminal.waitFor('3  █');
  terminal.press(keys.enter);
  await answer(
    'What does the tool return, and',
    'Returns the gas price of a chain. Use it before a transaction is sent.',
  );
  await terminal.asked('One record or a list?');
  terminal.press(pasted('list\nof fees\n'));
  await terminal.shows('Choose with the arrow keys and Enter.');
  take(
    'A paste',
    'Pasted lines become fields or one answer. A question with choices refuses pasted text with a message.',
  );
  terminal.press(keys.down, keys.enter);
  await answer('What does each item contain?', 'gwei:number(examples=0.5|12) Price in gwei', keys.enter);
  await answer('For which marketplace?');
  await terminal.asked('Write it?');
  await terminal.shows('Change an answer');
  const { screen } = terminal;
  const box = screen.findLastIndex((line) => line.includes('This will be written'));
  const shown = screen
    .slice(box)
    .join('\n')
    .replace(/\d+ files in \S+( *)│/, (all) => `… files in gas${' '.repeat(all.length - 15)}│`);
  pages.push(
    `## Before anything is written\n\nThe whole definition, and an example call with its three outcomes.\n\n\`\`\`\n${shown.trimEnd()}\n\`\`\`\n`,
  );
  terminal.press(keys.ctrlC);
  expect(await terminal.ended).toBe(130);
  const end = terminal.screen.findLastIndex((line) => line.includes('cancelled'));
  const last = terminal.screen
    .slice(end)
    .join('\n')
    .replace(/node \S+create-market-mcp\.js/, 'npx create-market-mcp');
  pages.push(
    `## After Ctrl-C\n\nThe command goes on with these answers.\n\n\`\`\`\n${last.trimEnd()}\n\`\`\`\n`,
  );
  const other = new Terminal(process.execPath, [bins.create, 'shop', ...fromDocument(cwd), '--no-install'], {
    cwd,
    columns: 80,
  });
  await other.asked('Which fields of get_parcel?');
  other.press('carrier');
  await other.waitFor('matches');
  other.press(keys.tab, keys.down, keys.tab);
  await other.waitFor('3 of 32');
  await other.shows('◼ events[].carrier');
  const choice = `From an API, a server or samples, a tool with more than 500 tokens may have only some
[fields](sources.md#choose-the-fields) of the answer. Typing filters them, Tab selects one, and the size of the definition follows.
Enter alone keeps all.`;
  take('The fields of an answer', choice, other);
  await expect(pages.join('\n')).toMatchFileSnapshot(join(repository, 'docs/terminal.md'));
});

/** The flags for a document with one operation, whose answer has 32 fields. */
function fromDocument(directory: string): readonly string[] {
  const words = 'carrier depot city country street phone weight volume price currency state note'.split(' ');
  const members = (of: string) =>
    Object.fromEntries(
      words.map((name) => [name, { type: 'string', description: `The ${name} as the ${of} gives it` }]),
    );
  const schema = {
    type: 'object',
    properties: {
      ...members('parcel'),
      sender: { type: 'object', properties: { name: { type: 'string' }, street: { type: 'string' } } },
      events: { type: 'array', items: { type: 'object', properties: members('event') } },
      id: { type: 'integer' },
      eta: { type: 'string' },
      count: { type: 'integer' },
      delay: { type: 'integer' },
    },
  };
  const get = { operationId: 'get_parcel', summary: 'Returns a parcel.', responses: answering(schema) };
  const document = openApi('https://api.parcels.example', 'Parcels', { '/parcel': { get } });
  writeFileSync(join(directory, 'parcels.json'), JSON.stringify(document));
  return ['--from-openapi', 'parcels.json', '--operation', 'get_parcel', '--platform', 'generic'];
}
