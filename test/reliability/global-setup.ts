import type { TestProject } from 'vitest/node';
import { clearFigures, gatherFigures } from './figures.ts';
import { installToolchain } from './toolchain.ts';

/** Draws the seed, installs the programs that the suite needs, and gathers its figures in the end. */
export default async function setup(project: TestProject): Promise<() => void> {
  project.provide('seed', Number(process.env.RELIABILITY_SEED ?? Math.floor(Math.random() * 2 ** 31)));
  clearFigures();
  await installToolchain();
  return gatherFigures;
}
