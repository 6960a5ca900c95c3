import type { BrokenServer } from '../variant.ts';

/** Servers of projects with an edited or outdated runtime. */
export const brokenRuntimes: readonly BrokenServer[] = [
  { rule: 'runtime.outdated', runtime: { newest: '0.2.1' } },
  { rule: 'runtime.edited', runtime: { edited: ['src/server/http.ts'] } },
];
