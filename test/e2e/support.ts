import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa, type Options, type Result } from 'execa';
import { afterAll, expect, inject } from 'vitest';
import type { CheckReport } from '../../packages/contract/src/check/check-report.ts';
import { defaultRules } from '../default-rules.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A node_modules directory with the dependencies of every generated project. */
    sharedModules: string;
  }
}

export const repository = fileURLToPath(new URL('../..', import.meta.url));
export const bins = {
  create: join(repository, 'bin/create-market-mcp.js'),
  market: join(repository, 'bin/market-mcp.js'),
};

const isRoot = process.getuid?.() === 0;
/** Root may write everywhere, so root runs programs as this user. */
const nobody = isRoot ? { uid: 65534, gid: 65534 } : {};

/** Gives a file or directory to the user of `asNobody`. */
export function giveToNobody(path: string): void {
  if (isRoot) chownSync(path, 65534, 65534);
}

/**
 * Runs the programs as a user without root's permissions, who may not be allowed to enter the directory of this clone: from a copy of the
 * package in a directory that everybody can enter.
 */
export function asNobody(): { readonly bins: typeof bins; readonly user: typeof nobody } {
  const directory = scratch();
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(join(repository, part), join(directory, part), { recursive: true });
  }
  for (const path of ['.', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })]) {
    const place = join(directory, path);
    chmodSync(place, statSync(place).isDirectory() ? 0o755 : 0o644);
  }
  const copied = (bin: string) => join(directory, relative(repository, bin));
  return { bins: { create: copied(bins.create), market: copied(bins.market) }, user: nobody };
}

/** The output of `--json` on success. */
export interface CreateResult {
  readonly ok: boolean;
  readonly directory: string;
  readonly files: readonly string[];
  readonly tools: readonly string[];
  readonly changes: readonly { tool: string; path: string; what: string; why: string }[];
  /** `name@version` */
  readonly packages: readonly string[] | null;
  readonly selfCheck: { passed: number; failed: number; notRun: number; failures: readonly unknown[] } | null;
  readonly next: readonly string[];
}

/** A directory of this test file, removed when the file is done. */
export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'market-mcp-test-'));
  // What a killed program has started may still write.
  afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return directory;
}

/** Copies those files of this repository, as git knows them, that are needed. */
export function copyRepository(to: string, isNeeded: (path: string) => boolean): void {
  const options = { cwd: repository, maxBuffer: 2 ** 28 };
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], options);
  for (const path of listed.toString().split('\0')) {
    // One that is deleted may not be committed yet.
    if (path === '' || !isNeeded(path) || !existsSync(join(repository, path))) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(repository, path), join(to, path));
  }
}

/** Relative path → content of every file below a directory; empty if there is no such directory. */
export function tree(directory: string): Map<string, string> {
  if (!existsSync(directory)) return new Map();
  return new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .map((path) => [relative(directory, path), readFileSync(path, 'utf8')]),
  );
}

/** Runs a program to its end; never throws because of an exit code. Omits variables that change the behaviour of the programs. */
export async function run(file: string, args: readonly string[], options: Options = {}): Promise<Ran> {
  const { CI: _ci, npm_config_user_agent: _agent, NO_COLOR: _color, ...env } = process.env;
  const ran: Result = await execa(file, args, {
    reject: false,
    stdin: 'ignore',
    ...options,
    extendEnv: false,
    env: { ...env, ...options.env },
  });
  return { status: ran.exitCode, stdout: String(ran.stdout ?? ''), stderr: String(ran.stderr ?? '') };
}

export interface Ran {
  readonly status: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Expects that a program ends with 0; a message of the test has all that it printed. */
export async function succeeded<T extends Ran>(running: Promise<T>): Promise<T> {
  const ran = await running;
  expect(ran.status, ran.stdout + ran.stderr).toBe(0);
  return ran;
}

export function create(args: readonly string[], options: Options = {}): Promise<Ran> {
  return run(process.execPath, [bins.create, ...args], options);
}

/** `market-mcp` with these arguments. */
export function market(args: readonly string[], options: Options = {}): Promise<Ran> {
  return run(process.execPath, [bins.market, ...args], options);
}

/** Scaffolds without install, links the shared modules, compiles. Throws with the output of the step that failed. */
export async function scaffold(args: readonly string[], options: Options = {}): Promise<CreateResult> {
  const created = await create([...args, '--yes', '--json', '--no-install', '--no-git'], options);
  if (created.status !== 0)
    throw new Error(`create exited ${created.status}\n${created.stdout}\n${created.stderr}`);
  const result: CreateResult = JSON.parse(created.stdout);
  lendModules(result.directory);
  const built = await compile(result.directory);
  if (built.status !== 0) throw new Error(`tsc exited ${built.status}\n${built.stdout}`);
  return result;
}

type Environment = { readonly [name: string]: string };

/**
 * The value that the body of an asynchronous function returns in a built project, which has `callTool`, `tools` and `named(tool)`,
 * and all that was printed.
 */
export async function evaluated(directory: string, body: string, env: Environment = {}) {
  const script = `
    const { callTool } = await import('market-mcp-runtime/testing');
    const { tools } = await import('./dist/src/tools/index.js');
    const named = (name) => tools.find((tool) => tool.name === name);
    const value = await (async () => {${body}})();
    process.stdout.write(JSON.stringify(value));`;
  const ran = await succeeded(
    run(process.execPath, ['--input-type=module', '-e', script], { cwd: directory, env }),
  );
  return { value: JSON.parse(ran.stdout), printed: ran.stdout + ran.stderr, stderr: ran.stderr };
}

export function lendModules(directory: string): void {
  symlinkSync(inject('sharedModules'), join(directory, 'node_modules'), 'dir');
}

export function compile(directory: string): Promise<Ran> {
  return run(join(inject('sharedModules'), '.bin/tsc'), [], { cwd: directory });
}

/**
 * Runs the self-check of a built project with the installed program, and its unit tests, on this Node or another one.
 *
 * @param options further options of the check
 */
export async function prove(
  directory: string,
  node: string = process.execPath,
  options: readonly string[] = [],
): Promise<{ report: CheckReport; unitTests: Ran }> {
  const program = join(directory, 'node_modules/create-market-mcp/bin/market-mcp.js');
  const check = await run(node, [program, 'check', '--no-build', '--json', ...options], { cwd: directory });
  if (!check.stdout.startsWith('{'))
    throw new Error(`self-check exited ${check.status}\n${check.stdout}\n${check.stderr}`);
  const text = readFileSync(join(directory, 'package.json'), 'utf8');
  const { scripts } = JSON.parse(text.replace(/^\ufeff/, ''));
  const unitTests = await run('sh', ['-c', scripts.test.replace(/^tsc && /, '')], {
    cwd: directory,
    env: { PATH: [dirname(node), process.env.PATH].join(delimiter) },
  });
  return { report: JSON.parse(check.stdout), unitTests };
}

/**
 * Groups of rules whose verdict depends on the tools of a project. The others judge what all projects share: `variants.test.ts` checks
 * them with every start, package manager and platform.
 */
const toolRules =
  'endpoint,discovery,tool,input,output,schema,meta,fit,result,outcome,call,submission,answers,explore,runtime,process.log-secrets';

/** Runs the unit tests of a built project, and the rules of its self-check that depend on its tools. */
export function proveTools(directory: string): ReturnType<typeof prove> {
  return prove(directory, process.execPath, ['--only', toolRules]);
}

/** Expects a built project to pass these rules and its unit tests, and its server to log no arguments. */
export async function expectProven(directory: string): Promise<void> {
  const { report, unitTests } = await proveTools(directory);
  expect(report.ok, JSON.stringify(failuresOf(report))).toBe(true);
  expect(report.rules.find(({ id }) => id === 'process.log-secrets')?.problems).toEqual([]);
  expect(unitTests.status, unitTests.stdout).toBe(0);
}

/** Rules without a subject in a project that is created with `--yes` alone. */
export const idleRules = ['outcome.fail', 'submission.in-time'] as const;

/** The `selfCheck` of `--json` for such a project. */
export const passedSelfCheck = {
  passed: defaultRules.length - idleRules.length,
  failed: 0,
  notRun: idleRules.length,
  failures: [],
};

/** Expects a verdict on every rule; only rules without a subject may be not run. */
export function expectAllRules(report: CheckReport): void {
  expect(report.rules.map(({ id }) => id)).toEqual(defaultRules.map(({ id }) => id));
  const idle = ['example', 'inapplicable'];
  const open = report.rules.filter(({ status, cause = '' }) => status === 'not-run' && !idle.includes(cause));
  expect([open, report.complete]).toEqual([[], true]);
}

/** The failed rules of a report with their findings, for readable assertion messages. */
export function failuresOf(report: Pick<CheckReport, 'rules'>): unknown[] {
  return report.rules
    .filter((rule) => rule.status === 'fail')
    .map((rule) => ({ id: rule.id, problems: rule.problems }));
}
