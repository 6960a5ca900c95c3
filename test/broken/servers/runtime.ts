import type { BrokenServer } from '../variant.ts';

/** Servers of projects with an outdated runtime or another profile. */
export const brokenRuntimes: readonly BrokenServer[] = [
  { rule: 'runtime.outdated', runtime: { newest: '1.0.1' } },
  {
    rule: 'runtime.platform',
    runtime: { differences: [{ path: 'src/platform.ts token.issuer', expected: '"a"', actual: '"b"' }] },
  },
];
