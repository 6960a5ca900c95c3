import { describe, expect, it } from 'vitest';
import { decideFile, type Sides } from '../../../src/changes/upgrade/decide.ts';
import type { Ownership } from '../../../src/plan/planned-file.ts';
import { sha256 } from '../../../src/project/read/file-text.ts';

const context = { label: 'create-market-mcp-9.9.9', used: new Set<string>() };

interface Case {
  readonly path?: string;
  readonly base?: string | null;
  readonly ours?: string | null;
  readonly theirs?: string | null;
  readonly owner?: Ownership;
  /** The recorded text; null: the manifest has no such file. */
  readonly recorded?: string | null;
}

async function decided(given: Case) {
  const base = given.base === undefined ? 'a\nb\nc\n' : given.base;
  const { path = 'README.md', ours = base, theirs = 'a\nb\nC\n', owner = 'yours', recorded = base } = given;
  const sides: Sides = {
    path,
    base: base === null ? null : Buffer.from(base),
    ours: ours === null ? null : Buffer.from(ours),
    theirs: theirs === null ? null : { content: Buffer.from(theirs), owner },
    recorded: recorded === null ? undefined : { sha256: sha256(recorded), owner },
  };
  const decision = await decideFile(sides, context);
  return 'content' in decision
    ? { ...decision, content: Buffer.from(decision.content).toString() }
    : decision;
}

describe('the decision on one file', () => {
  it.each<[string, Case, object]>([
    ['untouched: replaced', {}, { kind: 'replaced', content: 'a\nb\nC\n' }],
    [
      'untouched but for line ends and a mark: replaced with those',
      { ours: 'a\r\nb\r\nc\r\n' },
      { kind: 'replaced', content: 'a\r\nb\r\nC\r\n' },
    ],
    ['edited elsewhere: merged', { ours: 'A\nb\nc\n' }, { kind: 'merged', content: 'A\nb\nC\n' }],
    [
      'edited elsewhere, with a mark and Windows line ends: merged with those',
      { ours: '\ufeffA\r\nb\r\nc\r\n' },
      { kind: 'merged', content: '\ufeffA\r\nb\r\nC\r\n' },
    ],
    ['the same as this version writes it', { ours: 'a\nb\nC\n' }, { kind: 'same' }],
    ['this version has changed nothing', { theirs: 'a\nb\nc\n', ours: 'mine' }, { kind: 'same' }],
    ['deleted by the author', { ours: null }, { kind: 'kept', why: 'deleted' }],
    [
      'new in this version',
      { ours: null, base: null, recorded: null },
      { kind: 'new', content: 'a\nb\nC\n' },
    ],
    ['of the author, at a new path', { ours: 'x', base: null, recorded: null }, { kind: 'kept', why: 'own' }],
    [
      'edited, and its first text is not known',
      { ours: 'x', base: null, recorded: 'y' },
      { kind: 'kept', why: 'rewritten' },
    ],
    [
      'rewritten: less than a third of its lines are those that were written',
      { ours: 'a\nx\n\n\ny\nz\n' },
      { kind: 'kept', why: 'rewritten' },
    ],
    [
      'edited, and a third of its lines are those that were written',
      { ours: 'a\nb\nc\nu\nv\nw\nx\ny\nz\n' },
      { kind: 'conflict', lines: [3] },
    ],
    ['with NUL bytes', { ours: 'a\nb\nc\0\n' }, { kind: 'kept', why: 'rewritten' }],
    [
      'JSON that a formatter has changed',
      { path: 'x.json', base: '{"a": [1, 2]}', ours: '{\n  "a": [\n1,\n2\n]\n}', theirs: '{"a": [3]}' },
      { kind: 'replaced', content: '{"a": [3]}' },
    ],
    ['untouched without a successor', { theirs: null }, { kind: 'removed' }],
    ['of the author, edited, without a successor', { theirs: null, ours: 'x' }, { kind: 'kept', why: 'own' }],
    ['gone on both sides', { theirs: null, ours: null }, { kind: 'same' }],
    [
      'generated, edited',
      { ours: 'A\nb\nc\n', owner: 'generated' },
      { kind: 'overruled', content: 'a\nb\nC\n' },
    ],
    [
      'generated, edited, unchanged in this version',
      { ours: 'x', theirs: 'a\nb\nc\n', owner: 'generated' },
      { kind: 'overruled', content: 'a\nb\nc\n' },
    ],
    [
      'generated, where a file of the author is',
      { ours: 'x', base: null, recorded: null, owner: 'generated' },
      { kind: 'overruled', content: 'a\nb\nC\n' },
    ],
    ['generated, deleted', { ours: null, owner: 'generated' }, { kind: 'new', content: 'a\nb\nC\n' }],
    [
      'generated, edited, without a successor',
      { ours: 'x', theirs: null, owner: 'generated' },
      { kind: 'removed' },
    ],
    [
      'the list of tools, edited: written again',
      { path: 'src/tools/index.ts', ours: 'A\nb\nc\n', owner: 'generated' },
      { kind: 'overruled', content: 'a\nb\nC\n' },
    ],
    [
      'the list of tools, edited, unchanged in this version',
      { path: 'src/tools/index.ts', ours: 'A\nb\nc\n', theirs: 'a\nb\nc\n', owner: 'generated' },
      { kind: 'same' },
    ],
  ])('%s', async (_, given, expected) => {
    expect(await decided(given)).toMatchObject(expected);
  });

  describe('of watch.yml', () => {
    const path = '.github/workflows/watch.yml';
    const workflow = (command: string) => `on: schedule\njobs:\n  - checkout\n  - ${command}\n  - issue\n`;
    const earlier = workflow('npx market-mcp watch "$ENDPOINT" > watch.txt');
    const current = workflow('npx market-mcp check --availability "$ENDPOINT" > watch.txt');
    const options = '--platform mine.json "$ENDPOINT" > watch.txt';

    it.each<[string, string, object]>([
      [
        'replaces the command where its author added an option',
        workflow(`npx market-mcp watch ${options}`),
        { kind: 'merged', content: workflow(`npx market-mcp check --availability ${options}`) },
      ],
      [
        'replaces the command where its author edited another line',
        earlier.replace('schedule', 'push'),
        { kind: 'merged', content: current.replace('schedule', 'push') },
      ],
      [
        'replaces the command in a workflow that its author rewrote',
        'name: Mine\nrun: |\n  npx market-mcp watch https://tools.example.com/mcp\n',
        {
          kind: 'merged',
          content:
            'name: Mine\nrun: |\n  npx market-mcp check --availability https://tools.example.com/mcp\n',
        },
      ],
      [
        'leaves a rewritten workflow without the command as it is',
        'name: Mine\nrun: npx market-mcp watchdog\n',
        { kind: 'kept', why: 'rewritten' },
      ],
    ])('%s', async (_, ours, expected) => {
      expect(await decided({ path, base: earlier, theirs: current, ours })).toEqual(expected);
    });

    it('leaves the same words in another file as they are', async () => {
      const ours = 'My notes: market-mcp watch https://tools.example.com/mcp\n';
      const decision = await decided({ base: earlier, theirs: current, ours });
      expect(decision).toEqual({ kind: 'kept', why: 'rewritten' });
    });
  });

  it("marks conflicts with the author's line ends", async () => {
    const decision = await decided({ ours: 'a\r\nb\r\nmine\r\n' });
    expect(decision).toMatchObject({ kind: 'conflict', lines: [3] });
    expect('content' in decision && decision.content).toBe(
      'a\r\nb\r\n<<<<<<< yours\r\nmine\r\n=======\r\nC\r\n>>>>>>> create-market-mcp-9.9.9\r\n',
    );
  });

  it('merges package.json by key even without its base text', async () => {
    const decision = await decided({
      path: 'package.json',
      base: null,
      ours: '{"a":1}',
      theirs: '{"a":1,"b":2}',
      recorded: 'x',
    });
    expect(decision).toMatchObject({ kind: 'same' });
  });
});
