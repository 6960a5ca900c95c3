import { clearFigures, gatherFigures } from './figures.ts';
import { installToolchain } from './toolchain.ts';

/** Installs the programs that the suite needs, and collects its figures at the end. */
export default async function setup(): Promise<() => void> {
  clearFigures();
  await installToolchain();
  return gatherFigures;
}
