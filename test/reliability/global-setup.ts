import type { TestProject } from 'vitest/node';
import { clearFigures, gatherFigures } from './figures.ts';

/** If tests of this folder run: collects their figures at the end. */
export default function setup({ vitest }: TestProject): (() => void) | undefined {
  if (!vitest.state.getPaths().some((path) => path.includes('/test/reliability/'))) return undefined;
  clearFigures();
  return gatherFigures;
}
