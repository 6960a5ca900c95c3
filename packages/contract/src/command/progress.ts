import { singleLine } from './single-line.ts';

/** A stream to write to; `process.stdout` is one. */
export interface Sink {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
  hasColors?(): boolean;
}

/** A line that shows a step in progress. */
export interface Progress {
  update(text: string): void;
  stop(): void;
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const clearLine = '\r\u001b[K';
const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
const activeProgress = new Set<Progress>();
let onStart = (): void => {};

/** Calls back when a progress line appears. */
export function watchProgress(listener: () => void): void {
  onStart = listener;
}

/** Shows a progress line until `stop`; without a terminal it shows nothing. */
export function startProgress(terminal: Sink | undefined, label: string): Progress {
  if (!terminal) return { update() {}, stop() {} };
  let detail = '';
  let frame = 0;
  const draw = () => {
    const text = detail === '' ? label : `${label} · ${detail}`;
    const width = (terminal.columns ?? 80) - 3;
    terminal.write(`${clearLine}${frames[frame++ % frames.length]} ${text.slice(0, width)}`);
  };
  const timer = setInterval(draw, 80);
  timer.unref();
  const progress: Progress = {
    update(text) {
      detail = singleLine(text);
    },
    stop() {
      clearInterval(timer);
      if (!activeProgress.delete(progress)) return;
      terminal.write(clearLine + showCursor);
    },
  };
  activeProgress.add(progress);
  onStart();
  terminal.write(hideCursor);
  draw();
  return progress;
}

/** Restores the terminal: for a program that ends at once. */
export function stopAllProgress(): void {
  for (const progress of activeProgress) progress.stop();
}

/** Runs `act` while a progress line is shown. */
export async function withProgress<T>(
  progress: Progress,
  act: (update: (text: string) => void) => Promise<T>,
): Promise<T> {
  try {
    return await act((text) => progress.update(text));
  } finally {
    progress.stop();
  }
}
