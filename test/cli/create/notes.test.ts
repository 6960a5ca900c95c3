import { expect, it } from 'vitest';
import {
  adviceNotes,
  changeNotes,
  sentRequestSentences,
  showNotes,
  warningNotes,
} from '../../../src/cli/create/notes.ts';
import { failed, reportOf } from '../../check/report.ts';
import { outputTo } from '../sinks.ts';

const toDo = (at: string, path: string) => ({
  tool: 'get_x',
  path,
  at,
  expected: 'a text',
  actual: '"TODO"',
});
const report = reportOf([
  failed(
    'tool.to-do',
    [toDo('src/tools/get-y.ts:4', 'a'), toDo('src/tools/get-x.ts', 'b'), toDo('src/tools/get-x.ts:9', 'c')],
    { level: 'should', fix: 'Write it.' },
  ),
]);

it('warnings of a rule are one note for each file', () => {
  expect(warningNotes(report)).toEqual([
    { subject: 'src/tools/get-x.ts', text: 'tool.to-do in 2 places. Write it.' },
    { subject: 'src/tools/get-y.ts', text: 'tool.to-do. Write it.' },
  ]);
});

it('advice of a rule that the report has is not repeated, other advice is', () => {
  const advice = [
    { where: 'get_x.a', tool: 'get_x', rule: 'tool.to-do', message: 'is a to-do', hint: 'Write it.' },
    { where: 'API_URL', message: 'http://127.0.0.1 is a loopback address', hint: 'Check it.' },
  ];
  const address = { subject: 'API_URL', text: 'http://127.0.0.1 is a loopback address. Check it.' };
  expect(adviceNotes(advice, report)).toEqual([address]);
  expect(adviceNotes(advice, null)).toEqual([
    { subject: 'src/tools/get-x.ts', text: 'is a to-do. Write it.' },
    address,
  ]);
});

it('changes are one note for each tool, without the request that was sent', () => {
  const change = { tool: 'get_x', path: 'outputSchema', what: 'was widened', why: 'C§4' };
  const changes = [
    { ...change, kind: 'sent' as const, what: 'GET /x was sent once' },
    change,
    change,
    change,
  ];
  expect(sentRequestSentences(changes)).toEqual(['GET /x was sent once']);
  expect(changeNotes(changes)).toEqual([
    { subject: 'src/tools/get-x.ts', text: 'outputSchema was widened (C§4); 2 more changes' },
  ]);
});

it('a dropped part of a request is a note, not a request that was sent', () => {
  const change = { tool: 'get_x', path: 'request', what: '| jq . was dropped', why: 'it only formats' };
  expect(sentRequestSentences([change])).toEqual([]);
  expect(changeNotes([change])).toEqual([
    { subject: 'src/tools/get-x.ts', text: 'request | jq . was dropped (it only formats)' },
  ]);
});

it('notes take at most the lines that there is room for, and the rest is counted', () => {
  const notes = ['a', 'b', 'c', 'd', 'e'].map((subject) => ({ subject, text: 'word '.repeat(20).trim() }));
  const { output, stdout } = outputTo({ terminal: true });
  showNotes(notes, output, 4);
  const lines = stdout.text.trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[2]).toContain('4 more notes: --json lists all');

  const whole = outputTo({ terminal: true });
  showNotes(notes.slice(0, 2), whole.output, 4);
  expect(whole.stdout.text.trimEnd().split('\n')).toHaveLength(4);
  expect(whole.stdout.text).not.toContain('more note');
});
