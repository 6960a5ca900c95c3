import { expect, it } from 'vitest';
import { Asker } from '../../../src/cli/prompts/asker.ts';
import { screenOf } from '../../e2e/screen.ts';
import { keys } from '../../keys.ts';
import { type Answer, Keyboard } from './keyboard.ts';

const { enter, down, tab } = keys;
const path = `/organizations/{organizationId}/workspaces/{workspaceId}/projects/{projectId}/alerts/{alertId}`;
const operations = [
  { value: 'one', label: `getAlert  GET ${path}`, hint: 'Returns one alert with its history' },
  { value: 'two', label: `DELETE ${path}`, hint: 'Deletes one · may change something' },
];

function at(columns: number, ...answers: Answer[]) {
  const keyboard = new Keyboard(answers, columns);
  return { keyboard, asker: new Asker(keyboard.input, keyboard) };
}

it.each([80, 50])('a list of operations with long paths keeps its gutter at %i columns', async (columns) => {
  const { keyboard, asker } = at(columns, ['Which?', down, down, tab], ['◼', enter]);
  expect(await asker.search('Which?', operations)).toEqual(['one']);
  const open = keyboard.raw.slice(0, keyboard.raw.lastIndexOf('└') + 1);
  const lines = screenOf(open.replaceAll('\n', '\r\n'), keyboard.rows);
  expect(lines.join('\n')).toContain('(Returns one');
  expect(lines.filter((line) => !/^[│◆└]/.test(line))).toEqual([]);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
  expect(keyboard.text).toContain('one\n');
});

it('at 80 columns, the second line of a path stands below the first', async () => {
  const { keyboard, asker } = at(80, ['Which?', tab], ['◼', enter]);
  await asker.search('Which?', operations);
  expect(keyboard.text).toContain(
    [
      '│  ◻ DELETE /organizations/{organizationId}/workspaces/{workspaceId}/projects/{p',
      '│    rojectId}/alerts/{alertId}',
      '│  ↑/↓ to navigate',
    ].join('\n'),
  );
});

it('a warning with a long path keeps its gutter', () => {
  const { keyboard, asker } = at(60);
  asker.warn([`GET ${path} cannot become a tool.`, 'Choose another.']);
  expect(keyboard.text.split('\n')).toEqual([
    '│',
    '▲  GET /organizations/{organizationId}/workspaces/{workspace',
    '│  Id}/projects/{projectId}/alerts/{alertId} cannot become a',
    '│   tool.',
    '│  Choose another.',
    '',
  ]);
});

it('Enter is refused until one is selected, unless none need be', async () => {
  const { asker } = at(80, ['Which?', enter], ['Select at least one, with Tab.', tab], ['◼', enter]);
  expect(await asker.search('Which?', operations)).toEqual(['one']);
  const all = at(80, ['Enter keeps all', enter]);
  expect(await all.asker.search('Which?', operations, [], () => 'Enter keeps all')).toEqual([]);
  expect(all.keyboard.text).toContain('none selected');
});

it('letters do not move the cursor of a list', async () => {
  const { asker } = at(80, ['Which?', 'jjll', enter], ['Again?', down, 'khabc', enter]);
  expect(await asker.choose('Which?', operations)).toBe('one');
  expect(await asker.choose('Again?', operations)).toBe('two');
});
