import { combineResults, pass, type Result, readInput } from 'market-mcp-contract/command';
import type { AnswerSample } from '../import/sample.ts';

/** The saved answers at these paths; `-` is standard input. */
export async function samplesAt(paths: readonly string[]): Promise<Result<readonly AnswerSample[]>> {
  if (paths.length === 0) return pass([]);
  const { readSample } = await import('../import/read-sample.ts');
  const read = paths.map(async (path) =>
    readSample(await readInput(path), path === '-' ? '--from-sample' : path),
  );
  return combineResults(await Promise.all(read));
}
