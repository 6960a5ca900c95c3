import { expect, onTestFinished, test, vi } from 'vitest';
import { onInterrupted, onSignals } from '../../packages/contract/src/command/signals.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

test('a signal between two steps, when no child runs, is reported before the program ends', async () => {
  const before = signals.map((signal) => process.listeners(signal));
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
  onTestFinished(() => {
    exit.mockRestore();
    onInterrupted(undefined);
    for (const [i, signal] of signals.entries()) {
      for (const listener of process.listeners(signal)) {
        if (!before[i]?.includes(listener)) process.off(signal, listener);
      }
    }
  });
  onSignals();
  const told = vi.fn();
  onInterrupted(told);
  onInterrupted(undefined);
  expect(process.listenerCount('SIGTERM')).toBe(before[1]?.length);
  onInterrupted(told);
  process.kill(process.pid, 'SIGTERM');
  await expect.poll(() => exit.mock.calls.length).toBe(1);
  expect(told).toHaveBeenCalledOnce();
  expect(exit).toHaveBeenCalledWith(143);
});
