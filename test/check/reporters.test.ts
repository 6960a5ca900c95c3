import { describe, expect, it } from 'vitest';
import type { CheckReport } from '../../packages/contract/src/check/check-report.ts';
import { listingChange } from '../../packages/contract/src/check/drift.ts';
import { skipExplainedFailures } from '../../packages/contract/src/check/explained-failures.ts';
import { skippedRule } from '../../packages/contract/src/check/skipped-rule.ts';
import { type Baseline, evaluateReport } from '../../packages/contract/src/check/verdict.ts';
import type { NotRunCause, RehearsalStep, RuleResult } from '../../packages/contract/src/model.ts';
import { type ReporterName, reporters } from '../../packages/contract/src/report/reporters.ts';
import { consent, NotRun } from '../../packages/contract/src/wire/not-run.ts';
import { everything, failed, lenient, reportOf, ruleResult } from './report.ts';

const explainCommand = (rule: string) => `market-mcp explain ${rule}`;
const plain = { color: false, verbose: true, explainCommand };
const names = Object.keys(reporters) as ReporterName[];

/** Control and direction characters, except the line breaks of the report itself. */
const unprintable = /[^\P{C}\n]/u;

describe.each(names)('the reporter %s', (name) => {
  it('prints no text of the target that its reader would interpret', () => {
    expect(reporters[name](everything(), plain)).not.toMatch(unprintable);
  });

  it.each(['::error::x', ' ::set-output name=a::b', '##[error]x', 'a ##[command]b', '###[add-mask]c'])(
    'writes no workflow command where a text is %j',
    (text) => {
      const problem = { tool: text, path: text, expected: text, actual: text, fix: text };
      const report = evaluateReport(
        {
          ...reportOf([
            failed('gate.no-token', [problem, { expected: 'x', actual: text }], { fix: text }),
            ruleResult('gate.expired', { status: 'not-run', reason: text }),
          ]),
          rehearsal: [{ tool: text, arguments: { a: text }, ms: 1, status: 'fail', problems: [problem] }],
        },
        lenient,
        undefined,
        {
          against: text,
          refreshNeeded: true,
          changes: [listingChange('input.member.gone', text, { path: text })],
        },
      );
      const own = name === 'github' ? /^::(error|warning|notice) title=/ : /^$/;
      for (const line of reporters[name](report, plain).split('\n')) {
        expect(line).not.toContain('##[');
        if (!own.test(line)) expect(line).not.toMatch(/^\s*::/);
      }
    },
  );

  it('is pure, and ends without a line break', () => {
    const report = everything();
    const before = structuredClone(report);
    const text = reporters[name](report, plain);
    expect(reporters[name](report, plain)).toBe(text);
    expect(report).toEqual(before);
    expect(text).toMatch(/\S$/);
  });
});

describe('the cause of a failed rule', () => {
  const at = 'src/tools/get-price.ts:12';
  const stack = [`at Object.run ${at}`];
  const cause = { message: 'TypeError: the feed is gone', at, stack };
  const problem = { tool: 'get_price', expected: 'data', actual: 'isError: true', cause, at };
  const report = {
    ...evaluateReport(reportOf([failed('outcome.found', [problem]), ruleResult('gate.no-token')]), lenient),
    serverErrors: [
      { message: 'RangeError: no such day', at: 'src/tools/list-days.ts:7', stack: [], times: 3 },
    ],
  };

  it.each(names)('is printed with its place by %s', (name) => {
    const text = reporters[name](report, { color: false, verbose: false, explainCommand }).replaceAll(
      '\\_',
      '_',
    );
    for (const told of ['the feed is gone', at.slice(0, -3), 'no such day']) expect(text).toContain(told);
  });

  it('is annotated at its place by GitHub and code scanning', () => {
    expect(reporters.github(report, plain)).toContain(
      '::error title=outcome.found,file=src/tools/get-price.ts,line=12::',
    );
    const [{ results }] = JSON.parse(reporters.sarif(report, plain)).runs;
    expect(results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: 'src/tools/get-price.ts' },
      region: { startLine: 12 },
    });
  });

  it('ends a report for people, beside the command that runs the rule again', () => {
    const rerunCommand = (rules: readonly string[]) => `market-mcp check --only ${rules.join(',')}`;
    const text = reporters.pretty(report, { color: false, verbose: false, explainCommand, rerunCommand });
    expect(text.slice(text.indexOf('✗ failed'))).toMatchInlineSnapshot(`
      "✗ failed  1 rule passed, 1 failed in 1.2 s

      What failed, and where to change it
        src/tools/get-price.ts:12  outcome.found
            TypeError: the feed is gone
      Run only this rule again: market-mcp check --only outcome.found"
    `);
    expect(text.split('\n\n')[1]).toBe('✗ outcome  0 passed, 1 failed\n✓ gate     1 passed');
  });
});

describe('pretty', () => {
  it('prints failures, skipped rules with reasons, the rehearsal, drift and the counts', () => {
    const text = reporters.pretty(everything(), { color: false, verbose: false, explainCommand });
    expect(text.replaceAll(/a\\u\{1b\}.*?%0A/g, '<hostile>')).toMatchInlineSnapshot(`
      "Contract check of https://tools.example.com/mcp (platform generic)

      ✓ tool    1 passed
      ✗ gate    0 passed, 1 failed, 1 not run
      ! output  0 passed, 1 warning

      ✗ gate.no-token  the title of gate.no-token
          <hostile> · x.<hostile>
          expected  HTTP 401
          actual    <hostile>
          fix       Fix it.
          explain   market-mcp explain gate.no-token
      ! output.typed  the title of output.typed
          get_price · outputSchema
          expected  a type
          actual    nothing
          fix       Add "type".
          explain   market-mcp explain output.typed

      – not run (1): no key <hostile>
          gate.expired

      Submission rehearsal: connect, list the tools, call each with sample arguments, parse the text of its result
      ✓ get_price  {"symbol":"BTC"}  3 ms
      ✗ <hostile>  {"a\\u001b[31m\\u{9b}2J\\u{202e}\\r\\n::error::x\\n<b>&\\"]]>|\`*_@octocat https://evil.example \\ud…  30 ms
          expected  JSON
          actual    <hostile>

      Changes since listing.json
      ✗ breaks readers, loses disputes  <hostile> · <hostile>  has another type: "a\\u001b[31m\\u{9b}2J\\u{202e}\\r\\n::error::x\\n<b>&\\"]… → 5
      ! may break callers  get_volume  changed
      · safe for callers  list_coins  the tool is new
      The marketplace uses the old list until you trigger "Refresh Skills" (C§3.2, C§9.3).

      ✗ failed  1 rule passed, 1 failed, 1 warning, 1 not run in 1.2 s

      What failed, and where to change it
        <hostile>  gate.no-token
            <hostile> · x.a\\u{1b}[31m\\u{9b}2J\\u{202e}\\u{d}\\u{a}::error::x\\…"
    `);
  });

  it('prints two lines for each failed rule, causes first, if the details fill more than a screen', () => {
    const problem = { path: 'POST', expected: 'x', actual: 'y' };
    const ids = Array.from({ length: 60 }, (_, index) => `tool.rule-${index}`);
    const waiting = skippedRule(ruleResult('gate.expired'), NotRun.preventedBy('ungated'));
    const rules = [
      failed('tool.advice', [problem], { level: 'should' }),
      ...ids.map((id) => failed(id, [problem, { ...problem, path: 'GET' }])),
      failed('gate.no-token', [{ ...problem, at: 'src/auth.ts:12', fix: 'Check the token.' }]),
      waiting,
    ];
    const explained = skipExplainedFailures(rules, () => undefined);
    const report = evaluateReport(reportOf(explained), lenient);
    const rerunCommand = (failing: readonly string[]) => `market-mcp check --only ${failing.length}`;
    const options = { color: false, verbose: false, explainCommand, rerunCommand };
    const text = reporters.pretty(report, options);
    const lines = text.split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.slice(2, 6)).toEqual([
      '✗ gate.no-token (1 rule not run because of it)  src/auth.ts:12: Check the token.',
      '    actual  y',
      '✗ tool.rule-0  POST and 1 more: Fix it.',
      '    actual  y',
    ]);
    expect(text).toContain('✗ failed  0 rules passed, 61 failed, 1 warning, 1 not run');
    expect(text).toContain('Run only these rules again: market-mcp check --only 61');
    expect(text).not.toContain('expected  x');
    expect(reporters.pretty(report, { ...options, verbose: true })).toContain('expected  x');
    expect(explained.find(({ id }) => id === 'gate.expired')?.because).toBe('gate.no-token');
  });

  it('sends the author first to another rule only if that rule failed', () => {
    const fix = 'Fix output.holds-empty first: the outputSchema does not allow this result.';
    const fixOf = (rule: RuleResult) =>
      skipExplainedFailures(
        [failed('outcome.empty', [{ expected: 'x', actual: 'y', fix }]), rule],
        () => undefined,
      )[0]?.problems[0]?.fix;
    expect(fixOf(failed('output.holds-empty', [{ expected: 'x', actual: 'y' }]))).toBe(fix);
    expect(fixOf(ruleResult('output.holds-empty'))).toBeUndefined();
  });

  it('prints passed rules on request, and colours if allowed', () => {
    expect(reporters.pretty(everything(), plain)).toContain('✓ tool.name');
    expect(reporters.pretty(everything(), { color: false, verbose: false, explainCommand })).not.toContain(
      'tool.name',
    );
    expect(reporters.pretty(everything(), { color: true, verbose: false, explainCommand })).toContain(
      '\u001b[31m',
    );
  });

  it('prints the worst of many tools and changes, and counts the others', () => {
    const report = everything();
    const many = Array.from({ length: 100 }, (_, index) => ({
      ...report.rehearsal?.[0],
      tool: `tool_${index}`,
    }));
    const rehearsal = many.flatMap((step, index) => [
      { ...step, status: index % 2 === 0 ? 'pass' : 'fail' } as RehearsalStep,
    ]);
    const changes = many.map(({ tool }, index) =>
      listingChange(index === 99 ? 'input.type.other' : 'tool.text', tool),
    );
    const drift = { against: 'listing.json', refreshNeeded: true, changes };
    const text = reporters.pretty({ ...report, rehearsal, drift }, plain);
    expect(text).toContain('… and 30 more that fail\n… and 30 more that pass');
    expect(text).toContain('Changes since listing.json\n✗ breaks callers  tool_99  takes another type');
    expect(text).toContain('… and 80 more\nThe marketplace');
  });

  it('prints an entry of the baseline that passes now', () => {
    const baseline = { file: 'known.json', known: [{ rule: 'tool.name' }, { rule: 'gate.no-token' }] };
    const text = reporters.pretty(everything(lenient, baseline), plain);
    expect(text).toContain('✗ tool.name passes now: remove it from known.json');
    expect(text).toContain('(known: in the baseline)');
  });
});

describe('json', () => {
  it('reports whether a change breaks callers: true, false, or null if only a fingerprint is known', () => {
    const { drift } = JSON.parse(reporters.json(everything(), plain));
    expect(drift).toMatchObject({ against: 'listing.json', refreshNeeded: true });
    expect(drift.changes.map(({ breaks }: { breaks: unknown }) => breaks)).toEqual([true, null, false]);
  });

  it('is the report on one line', () => {
    const text = reporters.json(everything(), plain);
    expect(text).not.toContain('\n');
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(everything())));
  });
});

describe('junit', () => {
  const text = reporters.junit(everything({ level: 'must', requireAll: true }), plain);

  it('counts exactly what makes the check fail as failures', () => {
    expect(text).toContain('<testsuite name="gate" tests="2" failures="2" errors="0" skipped="0"');
    expect(text).toContain('<testsuite name="output" tests="1" failures="0"');
    expect(text).toContain('<system-out>advice');
    expect(reporters.junit(everything(), plain)).toContain('<skipped message="no key');
  });

  it('has a failure for drift and for a stale baseline if they make the check fail', () => {
    const stale = { file: 'known.json', known: [{ rule: 'tool.name' }] };
    const strict = reporters.junit(everything({ level: 'should', requireAll: false }, stale), plain);
    expect(strict).toContain('<testsuite name="check" tests="2" failures="2"');
    expect(text).toContain('<testsuite name="check" tests="1" failures="0"');
  });

  it('closes every tag, and escapes every text', () => {
    const tags = [...text.matchAll(/<(\/?)([a-z-]+)[^<>]*?(\/?)>/g)];
    const open: string[] = [];
    for (const [, closing, name = '', empty] of tags) {
      if (closing) expect(open.pop()).toBe(name);
      else if (!empty) open.push(name);
    }
    expect(open).toEqual([]);
    expect(text.replaceAll(/<[^<>]*>/g, '')).not.toMatch(/[<>]|&(?!(amp|lt|gt|quot);)/);
  });
});

it.each([
  ['answered', undefined, { exitCode: 0, executionSuccessful: true }],
  ['did not answer', 'unanswered', { exitCode: 3, executionSuccessful: false }],
  ['caused an error of the check', 'error', { exitCode: 70, executionSuccessful: false }],
] as const)('sarif has the exit code of the program if the server %s', (_, cause, invocation) => {
  const rule = cause ? ruleResult('http.post', { status: 'not-run', cause }) : ruleResult('http.post');
  const [run] = JSON.parse(reporters.sarif(evaluateReport(reportOf([rule]), lenient), plain)).runs;
  expect(run.invocations).toEqual([expect.objectContaining(invocation)]);
});

it('sarif has a result for each problem, and an open one for each skipped rule', () => {
  const { version, runs } = JSON.parse(reporters.sarif(everything(), plain));
  expect(version).toBe('2.1.0');
  const [{ tool, results }] = runs;
  expect(results.map(({ ruleId, level, kind }: Record<string, string>) => [ruleId, kind ?? level])).toEqual([
    ['gate.no-token', 'error'],
    ['output.typed', 'warning'],
    ['gate.expired', 'open'],
    ['drift', 'warning'],
  ]);
  for (const { ruleId, ruleIndex } of results.slice(0, 3)) {
    expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
  }
});

it('github has one command per line, and escapes text that resembles a command', () => {
  const lines = reporters.github(everything(), plain).split('\n');
  expect(lines.map((line) => /^::(error|warning|notice) title=([^:]*)::/.exec(line)?.slice(1))).toEqual([
    ['error', 'gate.no-token'],
    ['warning', 'output.typed'],
    ['warning', 'drift'],
    ['notice', 'market-mcp check failed'],
  ]);
  expect(lines[0]).toContain('%250A');
});

describe('markdown', () => {
  it('keeps every cell in its row and escapes every text', () => {
    const text = reporters.markdown(everything(), plain);
    for (const table of text.split('\n\n').filter((block) => block.startsWith('| '))) {
      const bars = table.split('\n').map((row) => row.match(/(?<!\\)\|/g)?.length);
      expect(new Set(bars).size).toBe(1);
    }
    expect(text).not.toMatch(/<b>|@octocat|https:\/\/evil/);
  });

  it('reports for each change whether it breaks callers', () => {
    const text = reporters.markdown(everything(), plain);
    expect(text).toContain('| get\\_volume |  | changed | may break callers | perhaps lost |');
    expect(text).toContain('| list\\_coins |  | the tool is new | safe for callers | no |');
    expect(text).toContain('**breaks readers, loses disputes** | **lost** by the old schema |');
  });
});

describe('a check that left rules out', () => {
  const omitted = (id: string, why: NotRun) => skippedRule(ruleResult(id), why);
  const vacuous = [
    omitted('outcome.fail', NotRun.because('example', 'no tool has an example that expects "fail"')),
    omitted('runtime.edited', NotRun.because('inapplicable', 'no project')),
  ];
  const open = [
    omitted('gate.expired', NotRun.without('signer')),
    omitted('result.fits', NotRun.because('withheld', consent)),
  ];
  const of = (rules: readonly RuleResult[]) =>
    evaluateReport(reportOf([ruleResult('tool.name'), ...vacuous, ...rules]), lenient);

  it.each(names)('is not called passed by %s, which says how to run them', (name) => {
    const report = of(open);
    expect([report.ok, report.complete, report.summary.withheld]).toEqual([true, false, 1]);
    const text = reporters[name](report, plain);
    if (name === 'json') {
      expect(JSON.parse(text)).toMatchObject({ ok: true, complete: false, summary: { withheld: 1 } });
      return;
    }
    expect(text.replaceAll(/\\(?=[*_])/g, '')).toMatch(/nothing failed, 4 of 5 rules not run/);
    expect(text).toContain('To run 1 more: give --signing-key');
    expect(text).toContain('name the tool with --call');
    expect(text).not.toMatch(/✓ passed|✅|check passed/);
  });

  it.each(names)('is called passed by %s if they are about what the server does not have', (name) => {
    const report = of([]);
    expect([report.ok, report.complete]).toEqual([true, true]);
    expect(reporters[name](report, plain)).not.toMatch(/nothing failed|To run/);
  });
});

describe('a check without a failed rule that is not decided', () => {
  const skipped = (cause: NotRunCause, id = 'gate.expired') => ruleResult(id, { status: 'not-run', cause });
  const of = (rules: readonly RuleResult[], demands = lenient, baseline?: Baseline) =>
    evaluateReport(reportOf([ruleResult('tool.name'), ...rules]), demands, baseline);
  const text = (name: ReporterName, report: CheckReport) => reporters[name](report, plain);

  it.each([
    [[skipped('unanswered')], 'not decided: 1 MUST rule not checked'],
    [[skipped('unanswered'), skipped('deadline', 'gate.used')], 'not decided: 2 MUST rules not checked'],
    [[skipped('error'), skipped('unanswered', 'gate.used')], 'not decided: the check itself failed'],
  ])('is not called failed: case %#', (rules, verdict) => {
    const report = of(rules);
    expect(report.ok).toBe(false);
    expect(text('pretty', report)).toContain(`! ${verdict}  1 rule passed, 0 failed`);
    expect(text('markdown', report)).toMatch(/^# ⚠️ /);
    expect(text('markdown', report)).toContain(`**${verdict}**`);
    expect(text('github', report)).toContain(`market-mcp check ${verdict.replace(':', '%3A')}::`);
  });

  it.each([
    [
      'a rule fails too',
      of([skipped('unanswered'), failed('gate.used', [{ expected: 'HTTP 401', actual: 'HTTP 200' }])]),
    ],
    ['every rule must run', of([skipped('unanswered')], { ...lenient, requireAll: true })],
    ['an entry of the baseline passes', of([], lenient, { file: 'x', known: [{ rule: 'tool.name' }] })],
    [
      'the drift breaks callers',
      evaluateReport(reportOf([ruleResult('tool.name')]), { ...lenient, level: 'should' }, undefined, {
        against: 'x',
        refreshNeeded: true,
        changes: [listingChange('input.member.gone', 'get_price')],
      }),
    ],
  ])('is called failed if %s', (_, report) => {
    expect(report.ok).toBe(false);
    expect(text('pretty', report)).toContain('✗ failed');
    expect(text('markdown', report)).toMatch(/^# ❌ /);
  });
});

it('prints the first five problems of a rule, its fix and its explanation for people', () => {
  const problems = Array.from({ length: 8 }, (_, index) => ({
    path: `p${index}`,
    expected: 'x',
    actual: 'y',
  }));
  const report = evaluateReport(reportOf([failed('input.sample', problems, { level: 'should' })]), lenient);
  const text = reporters.pretty(report, { color: false, verbose: false, explainCommand });
  expect(text).toMatch(
    / p4\n {4}expected {2}x\n {4}actual {4}y\n {4}… and 3 more\n {4}fix {7}Fix it\.\n {4}explain /,
  );
});
