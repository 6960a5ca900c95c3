import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { market, type Ran, run, scaffold, scratch } from './support.ts';

const root = scratch();
let directory: string;

beforeAll(async () => {
  const made = ['project', '--tool', 'get_price', '--input', 'symbol:string=BTC Symbol'];
  directory = (await scaffold(made, { cwd: root })).directory;
  const examples = { tools: { get_price: [{ arguments: { symbol: 'BTC' }, expect: 'empty' }] } };
  writeFileSync(join(directory, 'examples.json'), JSON.stringify(examples));
  writeFileSync(join(directory, 'listing-of-nothing.json'), '{"tools": []}');
});

/** What the script of the project runs, without npm. */
const selfCheck = (...options: readonly string[]): Promise<Ran> =>
  market(['check', ...options], { cwd: directory });

/** Options of `check` for a project → exit code and output. All are limited to the rules of one group, for speed. */
const accepted: readonly [options: string, status: number, printed: RegExp][] = [
  ['--no-build --only gate.no-token', 0, /1 rule passed, 0 failed/],
  [
    '--no-build --only outcome --skip outcome.empty --verbose',
    0,
    /✓ outcome\.found(?![\s\S]*✓ outcome\.empty )/,
  ],
  ['--no-build --only fit --level should', 0, /a SHOULD counts/],
  ['--no-build --only modern,session --era legacy', 0, /✓ session(?![\s\S]*✓ modern)/],
  ['--no-build --only modern --era legacy', 2, /no selected rule belongs to the era legacy/],
  ['--no-build --only outcome --require-all', 1, /every rule must run/],
  ['--no-build --only submission --platform context', 0, /platform context/],
  ['--no-build --only outcome --examples examples.json', 1, /expected +an empty result/],
  ['--no-build --only outcome --timeout 60000 --deadline 600000 --live', 0, /✓ passed/],
  ['--no-build --only outcome --deadline 1', 3, /deadline/],
  ['--no-build --only gate.no-token --against listing-of-nothing.json', 0, /get_price/],
  ['--no-build --only gate.no-token --save-listing listing.json', 0, /listing\.json written/],
  [
    '--no-build --only outcome --examples examples.json --save-baseline baseline.json',
    1,
    /baseline\.json written/,
  ],
  ['--no-build --only outcome --examples examples.json --baseline baseline.json', 0, /known/],
  ['--no-build --only outcome --reporter junit', 0, /^<\?xml/],
  ['--no-build --only explore --explore 3 --seed 7', 0, /explore +\d+ passed/],
  ['--no-build --only gate.no-token --summary summary.md', 0, /1 rule passed/],
  ['--no-build --only gate.no-token --json', 0, /^\{"ok":true/],
];

/** Options that need a URL. */
const remote = ['--token', '--signing-key', '--issuer', '--audience', '--header', '--call'];

describe('npm run self-check -- <options>', () => {
  test.each(accepted)('%s', async (options, status, printed) => {
    const ran = await selfCheck(...options.split(' '));
    expect(ran).toMatchObject({ status });
    expect(`${ran.stdout}${ran.stderr}`).toMatch(printed);
  });

  test('writes the files that it names', () => {
    expect(JSON.parse(readFileSync(join(directory, 'listing.json'), 'utf8'))).toMatchObject({
      tools: [{ name: 'get_price' }],
    });
    expect(existsSync(join(directory, 'baseline.json'))).toBe(true);
  });

  test('adds the summary to that of a step of GitHub Actions, and replaces another one', async () => {
    const summary = join(directory, 'step.md');
    const env = { GITHUB_STEP_SUMMARY: summary };
    const options = ['--no-build', '--only', 'gate.no-token', '--summary', summary];
    const reports = async (given: typeof env | undefined) => {
      writeFileSync(summary, 'before\n');
      await market(['check', ...options], { cwd: directory, ...(given && { env: given }) });
      return readFileSync(summary, 'utf8');
    };
    expect(await reports(undefined)).toMatch(/^# [\s\S]*1 rule passed/);
    expect(await reports(env)).toMatch(/^before\n# [\s\S]*1 rule passed/);
  });

  test.each(remote)('refuses %s, which a project does not need', async (option) => {
    const { status, stderr } = await selfCheck(option, 'X-A: 1');
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining(option) });
    expect(stderr).toContain('works only with a URL');
  });

  test('builds first, and reports an unknown option', async () => {
    const file = join(directory, 'src/tools/get-price.ts');
    const original = readFileSync(file, 'utf8');
    writeFileSync(file, original.replace("name: 'get_price'", 'name: 7'));
    const broken = await selfCheck('--only', 'gate.no-token').finally(() => writeFileSync(file, original));
    expect(broken).toMatchObject({ status: 3 });
    expect(`${broken.stdout}${broken.stderr}`).toContain('src/tools/get-price.ts');
    const script = ['run', '-s', 'self-check', '--', '--lasting'];
    const unknown = await run('npm', script, { cwd: directory });
    expect(unknown).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("unknown option '--lasting'"),
    });
  });

  test('tries every option of check', async () => {
    const { stdout } = await selfCheck('--help-all');
    const all = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, option]) => option);
    const tried = [...accepted.flatMap(([options]) => options.split(' ')), ...remote];
    // --watch never ends by itself (test/e2e/check.test.ts), --deploy needs a container engine (test/deploy), --availability needs
    // a URL (test/availability).
    const others = ['--watch', '--deploy', '--availability', '--help', '--help-all'];
    expect(all.filter((option) => !tried.includes(option ?? '') && !others.includes(option ?? ''))).toEqual(
      [],
    );
  });
});
