import { afterAll, vi } from 'vitest';

const directory = process.cwd();

// Runs for each file: the next one in this process finds everything as this one did.
afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
  process.chdir(directory);
});
