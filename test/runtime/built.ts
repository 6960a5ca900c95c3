import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/generic.ts';
import { serverPlatform } from '../../src/plan/plan-project.ts';

const repository = path.resolve(import.meta.dirname, '../..');
const compiler = path.join(repository, 'node_modules/typescript/bin/tsc');

/**
 * A compiled project in a temporary directory: the built runtime, the generic platform and the tools of a file here.
 *
 * @param hasState whether it also has the file that `deploy add redis` writes
 */
export function buildProject(
  toolsFile = path.join(import.meta.dirname, 'tools.ts'),
  hasState = false,
): {
  directory: string;
  remove(): void;
} {
  const directory = mkdtempSync(path.join(tmpdir(), 'runtime-'));
  symlinkSync(path.join(repository, 'node_modules'), path.join(directory, 'node_modules'));
  const write = (file: string, text: string) => writeFileSync(path.join(directory, file), text);
  copyFileSync(
    path.join(repository, 'templates/project/tsconfig.json'),
    path.join(directory, 'tsconfig.json'),
  );
  write('package.json', JSON.stringify({ name: 'built', version: '0.0.7', type: 'module' }));
  mkdirSync(path.join(directory, 'src'));
  const { token, limits } = serverPlatform(generic);
  write(
    'src/main.ts',
    `import { serve } from 'market-mcp-runtime/serve';
import { tools } from './tools.ts';
${hasState ? "import { redisState } from './redis.ts';" : ''}
await serve({ tools, platform: ${JSON.stringify({ token, limits })}${hasState ? ', state: redisState' : ''} });
`,
  );
  if (hasState) {
    copyFileSync(
      path.join(repository, 'templates/project/src/redis.ts'),
      path.join(directory, 'src/redis.ts'),
    );
  }
  const tools = readFileSync(toolsFile, 'utf8');
  const own = tools.replace('../../packages/runtime/src/server/define-tool.ts', 'market-mcp-runtime');
  write('src/tools.ts', own.replace('../../packages/runtime/src/source.ts', 'market-mcp-runtime/source'));
  compile(directory);
  return { directory, remove: () => rmSync(directory, { recursive: true }) };
}

/** Compiles a project as its `npm run build` does. @throws Error if its types are wrong */
export function compile(directory: string): void {
  execFileSync(process.execPath, [compiler], { cwd: directory, stdio: 'pipe' });
}

/** Starts a process of a project; it is ended with the test at the latest. */
export function run(
  directory: string,
  script: string,
  env: Record<string, string> = {},
  args: readonly string[] = [],
) {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: directory,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => {
    output.stdout += text;
  });
  child.stderr.on('data', (text) => {
    output.stderr += text;
  });
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }));
  onTestFinished(() => end(child, exit));
  return { child, output, exit };
}

async function end(child: ChildProcess, exit: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  await exit;
}
