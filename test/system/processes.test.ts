import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runProgram } from '../../src/system/processes.ts';
import { isRunning } from '../processes.ts';

type Processes = typeof import('../../src/system/processes.ts');

const cwd = process.cwd();
const node = (code: string, options: Partial<Parameters<typeof runProgram>[2]> = {}) =>
  runProgram(process.execPath, ['-e', code], { cwd, ...options });

describe('a child process', () => {
  it('runs to its end, whatever its exit code', async () => {
    expect(await node("console.log('out'); console.error('err'); process.exitCode = 7")).toMatchObject({
      exitCode: 7,
      missing: false,
      stdout: 'out',
      lastLines: expect.arrayContaining(['out', 'err']),
    });
  });

  it('is reported as missing if the program does not exist', async () => {
    expect(await runProgram('no-such-program-here', [], { cwd })).toMatchObject({
      exitCode: undefined,
      missing: true,
    });
  });

  it('reports its lines as they arrive, and keeps the last ones without noise', async () => {
    const lines: string[] = [];
    const ended = await node('for (let i = 0; i < 50; i++) console.log(i % 2 ? `noise ${i}` : `line ${i}`)', {
      onLine: (line) => lines.push(line),
      isNoise: (line) => line.startsWith('noise'),
    });
    expect(lines).toHaveLength(50);
    expect(ended.lastLines).toEqual(Array.from({ length: 20 }, (_, index) => `line ${10 + 2 * index}`));
  });

  it('gets added variables and loses removed ones', async () => {
    vi.stubEnv('MARKET_TEST_LOST', 'there');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { stdout } = await node(
      'console.log(process.env.MARKET_TEST_GIVEN, process.env.MARKET_TEST_LOST)',
      {
        env: { MARKET_TEST_GIVEN: 'given', MARKET_TEST_LOST: undefined },
      },
    );
    expect(stdout).toBe('given undefined');
  });

  it('ends with its descendants, and the work does not continue', async () => {
    const grandchild = 'setInterval(() => {}, 1000); console.log(process.pid)';
    const code = `
      const stdio = ['ignore', 'inherit', 'ignore'];
      require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}], { stdio });
      setInterval(() => {}, 1000);
    `;
    // A module of its own: other test files in this process use the other one, which must not be ending.
    const ending = '../../src/system/processes.ts?ending';
    const { endChildren, runProgram: start }: Processes = await import(ending);
    let goesOn = false;
    const pid = await new Promise<string>((resolve) => {
      start(process.execPath, ['-e', code], { cwd, onLine: resolve }).then(() => {
        goesOn = true;
      });
    });
    await endChildren();
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(goesOn).toBe(false);
  });
});
