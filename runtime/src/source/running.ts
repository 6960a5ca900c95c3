import { AsyncLocalStorage } from 'node:async_hooks';
import { type Running, runInside, type SourceLine } from '../server/call.ts';
import { createLog } from '../server/log.ts';

const running = new AsyncLocalStorage<Running>();
runInside((call, run) => running.run(call, run));

/** The name of the tool that runs; undefined outside of a call. */
export function runningTool(): string | undefined {
  return running.getStore()?.tool;
}

const log = createLog((line) => console.error(line.trimEnd()));

/** For the author: why a request to a source failed, on standard error, with the tool and the request that caused it. */
export function logSource(line: SourceLine): void {
  const { tool, request, onSource } = running.getStore() ?? {};
  log('source', { tool, request, ...line });
  onSource?.(line);
}
