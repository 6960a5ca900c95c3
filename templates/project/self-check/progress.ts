import type { RunOptions } from '../contract/index.ts';

export type Progress = NonNullable<RunOptions['onRule']>;

/** One JSON line on stderr for each finished rule, for the program that started this one. */
export const writeProgress: Progress = ({ id, status }, done, total) => {
  process.stderr.write(`${JSON.stringify({ done, total, id, status })}\n`);
};

/** A line on stderr that counts the rules, on a terminal; it is gone when the last one is finished. */
export const showProgress: Progress = ({ id }, done, total) => {
  if (!process.stderr.isTTY) return;
  process.stderr.write(`\r\u001b[K${done < total ? `${done}/${total} ${id}` : ''}`);
};
