import { Output } from '../../packages/contract/src/command/output.ts';
import type { Sink } from '../../packages/contract/src/command/progress.ts';

class Text implements Sink {
  readonly isTTY: boolean;
  readonly columns = 80;
  text = '';

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.text += text;
  }

  hasColors(): boolean {
    return this.isTTY;
  }
}

/** An output with readable streams; `terminal` makes them terminals with colours. */
export function outputTo({ json = false, terminal = false } = {}) {
  const stdout = new Text(terminal);
  const stderr = new Text(terminal);
  return { output: new Output({ json, stdout, stderr }), stdout, stderr };
}
