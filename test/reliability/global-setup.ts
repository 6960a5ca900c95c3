import type { TestProject } from 'vitest/node';
import { clearFigures, gatherFigures } from './figures.ts';
import { installToolchain } from './toolchain.ts';

/** Draws and prints the seed, installs the programs that the suite needs, and gathers its figures in the end. */
export default async function setup(project: TestProject): Promise<() => void> {
  if (!process.env.RELIABILITY_SEED) {
    process.env.RELIABILITY_SEED = String(Math.floor(Math.random() * 2 ** 31));
    console.log(`RELIABILITY_SEED=${process.env.RELIABILITY_SEED}`);
  }
  project.provide('seed', Number(process.env.RELIABILITY_SEED));
  clearFigures();
  await installToolchain();
  return gatherFigures;
}
