import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { createSteps, serve } from '../broken/good-server.ts';
import { trust } from '../broken/trust.ts';
import { bins, run } from '../e2e/support.ts';
import { freePort } from '../ports.ts';
import { directory as newDirectory } from '../project/directory.ts';
import { fileOf } from '../render/target-files.ts';

interface Step {
  readonly id?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** GitHub's issues as files of a directory: what `gh` keeps at GitHub. It knows the subcommands and flags that the workflow uses. */
const gh = `#!/bin/sh
set -e
cd "$ISSUES"
case "$1 $2" in
  'issue list') [ "$3 $4 $5 $6" = '--label watch --state open' ]; for one in *.open; do [ -e "$one" ] && basename "$one" .open; done; exit 0 ;;
  'label create') [ "$3 $4" = 'watch --force' ]; touch watch.label ;;
  'issue create') [ "$3 $4" = '--label watch' ] && [ -e watch.label ]; number=$(ls | wc -l); cp "$OLDPWD/\${8}" "$number.open" ;;
  'issue close') mv "$3.open" "$3.closed" ;;
  *) exit 64 ;;
esac
`;

test('the workflow opens one issue at the first miss, and closes it when all is well', async () => {
  const directory = newDirectory();
  const [bin, issues] = [join(directory, 'bin'), join(directory, 'issues')];
  for (const one of [bin, issues]) mkdirSync(one);
  writeFileSync(join(bin, 'gh'), gh);
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\nexec ${process.execPath} ${bins.market} "$@"\n`);
  for (const name of ['gh', 'npx']) chmodSync(join(bin, name), 0o755);
  const workflow = load(fileOf('.github/workflows/watch.yml')) as {
    readonly jobs: { readonly watch: { readonly steps: readonly Step[] } };
  };
  const scripts = workflow.jobs.watch.steps.filter(({ env, id }) => env !== undefined || id !== undefined);
  expect(scripts).toHaveLength(2);

  /** Runs the steps as a runner does: a file of outputs, `bash -e`, and the first failure ends the job. */
  const day = async (endpoint: string) => {
    const outputs = join(directory, 'outputs');
    writeFileSync(outputs, '');
    for (const { run: script = '', env } of scripts) {
      const [, status = ''] = /status=(\d+)/.exec(readFileSync(outputs, 'utf8')) ?? [];
      const ran = await run('bash', ['-eo', 'pipefail', '-c', script], {
        cwd: directory,
        env: {
          PATH: [bin, process.env.PATH].join(delimiter),
          HOME: directory,
          ENDPOINT: endpoint,
          GITHUB_OUTPUT: outputs,
          ISSUES: issues,
          ...(env && { STATUS: status }),
        },
      });
      if (ran.status !== 0) return ran;
    }
    return { status: 0, stdout: '', stderr: '' };
  };
  const kept = () => readdirSync(issues).filter((name) => !name.endsWith('.label'));

  const unset = await day('');
  expect([unset.status, unset.stdout]).toEqual([
    2,
    expect.stringContaining('::error::Set the variable ENDPOINT'),
  ]);
  const wrong = await day('tools.example.com');
  expect([wrong.status, kept()]).toEqual([2, []]);

  const server = await serve(createSteps(trust), await freePort());
  expect([(await day(server.url)).status, kept()]).toEqual([0, []]);
  await server.stop();
  expect((await day(server.url)).status).toBe(0);
  const [issue = ''] = kept();
  expect(readFileSync(join(issues, issue), 'utf8')).toMatch(
    /three misses[\s\S]*\n {4}✗ the first answer: nothing listens there/,
  );
  expect([(await day(server.url)).status, kept()]).toEqual([0, [issue]]);
  const back = await serve(createSteps(trust), Number(new URL(server.url).port));
  expect([(await day(back.url)).status, kept()]).toEqual([0, [issue.replace('open', 'closed')]]);
  await back.stop();
  expect(existsSync(join(directory, '.market-mcp'))).toBe(false);
});
