import type { Broken, Variant } from '../variant.ts';

/** Servers of projects with an outdated runtime or another profile. */
export const brokenRuntimes: Broken<Variant> = {
  'runtime.outdated': { runtime: { newest: '1.0.1' } },
  'runtime.platform': {
    runtime: { differences: [{ path: 'src/platform.ts token.issuer', expected: '"a"', actual: '"b"' }] },
  },
};
