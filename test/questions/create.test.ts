import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { startImport } from '../../src/changes/import-run.ts';
import { importTools } from '../../src/changes/import-tools.ts';
import { prepareTools } from '../../src/import/prepare.ts';
import { createQuestions } from '../../src/questions/create.ts';
import {
  type CreateAnswers,
  type CreateFlags,
  completeAnswers,
  missingFlags,
  readCreateFlags,
  replayCommand,
} from '../../src/questions/create-answers.ts';
import type { PartialAnswers } from '../../src/questions/partial-answers.ts';
import type { DeployTarget } from '../../src/questions/targets.ts';
import { toolAnswers } from '../../src/questions/tool-answers.ts';
import fc from '../fast-check.ts';
import { toolSpec } from '../fields/arbitraries.ts';

/** The arguments that a real shell parses from command lines. */
function shellSplit(lines: readonly string[]): readonly (readonly string[])[] {
  const print = `${process.execPath} -e 'console.log(JSON.stringify(process.argv.slice(1)))' --`;
  const script = lines.map((line) => line.replace('create-market-mcp', print)).join('\n');
  const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Parses arguments with the flags of the question table alone. */
function flagsOf(pieces: readonly string[]): CreateFlags {
  const [directory, ...rest] = pieces;
  const flags: { [name: string]: string | string[] } = { directory: directory ?? '' };
  for (let i = 0; i < rest.length; i += 1) {
    const found = Object.entries(createQuestions).find(([, { flag }]) =>
      flag.syntax.startsWith(`${rest[i]} <`),
    );
    if (!found) continue;
    const [name, { flag }] = found;
    i += 1;
    const before = flags[name];
    flags[name] = flag.repeatable
      ? [...(Array.isArray(before) ? before : []), rest[i] ?? '']
      : (rest[i] ?? '');
  }
  return flags as CreateFlags;
}

function reread(pieces: readonly string[]): CreateAnswers {
  return completeAnswers(unwrap(readCreateFlags(flagsOf(pieces))));
}

const toolFields = [{ name: 'price', required: true, type: 'number', description: 'Its price' }] as const;

const titles = fc.constantFrom(undefined, 'Price of a coin', "it's `x`");
const effect = fc.constantFrom('reads' as const, 'computes' as const, 'acts' as const);

const tools: fc.Arbitrary<PartialAnswers> = fc.oneof(
  fc
    .record({ tool: toolSpec, title: titles, effect: effect })
    .map(({ tool: { name, description, ...tool }, title, effect }) => ({
      ...{ ...tool, tool: name, title, effect, description: [description.trim()] },
      meta: name.length % 2 === 0 ? [{ path: ['pricing', 'executeUsd'], text: '0.01' }] : undefined,
    })),
  fc.record({
    spec: fc.constantFrom('tools.json', '-', 'a b.yaml'),
    only: fc.constantFrom(undefined, ['get_a'], ['get_a', 'b c']),
    except: fc.constantFrom(undefined, ['get_b']),
    output: fc.constantFrom(undefined, toolFields),
    example: fc.constantFrom(undefined, [{ tool: 'get_a', parameter: 'a b', text: 'x.y=z' }]),
  }),
);

const answers: fc.Arbitrary<CreateAnswers> = fc
  .record({
    directory: fc.constantFrom('my-tool', '/tmp/some where/x', "it's/a-b", './-rf/ok'),
    platform: fc.constantFrom('generic', 'context', './mine.yaml'),
    deploy: fc.constantFrom<readonly DeployTarget[] | undefined>(undefined, ['compose'], ['compose', 'fly']),
    packageManager: fc.constantFrom(undefined, 'npm', 'pnpm', 'yarn', 'bun'),
    tools,
  })
  .map(({ tools: own, ...others }) => ({ ...others, ...own }));

describe('the command that repeats the answers', () => {
  it('gives the same answers through a real shell', () => {
    const given = fc.sample(answers, { numRuns: 60, seed: 7 });
    const lines = given.map((one) => replayCommand(one, new Map()));
    expect(shellSplit(lines).map(reread)).toEqual(given);
  }, 120_000);

  it('includes the switches that affect the result', () => {
    const switches = { install: false, git: true, check: false, force: true };
    const line = replayCommand(completeAnswers({ spec: 'x.json' }), new Map(), switches, [
      'npx',
      'create-market-mcp',
    ]);
    expect(line).toBe('npx create-market-mcp my-tool --yes --spec x.json --no-install --no-check --force');
  });
});

describe('the defaults', () => {
  it('create a server that passes every rule, including advice', async () => {
    for (const directory of ['my-tool', 'gas-prices', '/srv/find-hotels-mcp', 'x']) {
      const entries = unwrap(
        await importTools(toolAnswers(completeAnswers({ directory })), context, startImport()),
      );
      expect(prepareTools(entries, context)).toMatchObject({
        ok: true,
        value: { changes: [], advice: [] },
      });
    }
  });

  it.each([
    ['gas-prices', 'get_gas_prices'],
    ['/srv/find-hotels-mcp', 'find_hotels'],
    ['my-tool', 'get_record'],
    ['9', 'get_9'],
  ])('derive from %s the name %s', (directory, name) => {
    expect(createQuestions.tool.initial({ directory })).toBe(name);
  });

  it('have no input if only the output is described', () => {
    const output = createQuestions.output.parse(['now:string The time']);
    const completed = completeAnswers({ tool: 'get_time', output: output.ok ? output.value : [] });
    expect(completed).toMatchObject({ input: [], description: [expect.stringContaining('time')] });
  });
});

describe('flags', () => {
  it('are validated all at once', () => {
    const result = readCreateFlags({
      directory: 'My Tool!',
      tool: 'a b',
      description: [' '],
      input: ['a:strng'],
      output: [],
      returns: 'maybe',
      platform: '',
      packageManager: 'bower',
      spec: 'x.json',
    });
    expect(result.ok ? [] : result.errors.map(({ where }) => where)).toEqual([
      '--spec',
      '[directory]',
      '--tool',
      '--description',
      '--input "a:strng"',
      '--output',
      '--returns',
      '--platform',
      '--package-manager',
    ]);
  });

  it('are listed if missing', () => {
    expect(missingFlags({})).toEqual([
      '[directory]',
      '--tool <name>',
      '--description <text>',
      '--output <field>',
    ]);
    expect(missingFlags({ directory: 'x', spec: '-' })).toEqual([]);
  });

  it('refuse control characters in free text', () => {
    expect(createQuestions.description.parse(['Returns\u001b[31m']).ok).toBe(false);
    expect(createQuestions.description.parse(['Returns\n  more']).ok).toBe(true);
  });
});
