import type { TestProject } from 'vitest/node';
import { clearFigures, gatherFigures } from './figures.ts';
import { installToolchain } from './toolchain.ts';

/** If tests of this folder run: installs the programs that they need, and collects their figures at the end. */
export default async function setup({ vitest }: TestProject): Promise<(() => void) | undefined> {
  if (!vitest.state.getPaths().some((path) => path.includes('/test/reliability/'))) return undefined;
  clearFigures();
  await installToolchain();
  return gatherFigures;
}
