import type { Asked, HttpAnswer } from './http.ts';

/** Called before each request of a run, with its real headers. */
export type Recorder = (request: Asked) => {
  /** Headers that are sent besides. */
  readonly headers: Readonly<Record<string, string>>;
  /** Gets the answer; of a stream of events, what came before its end or that of the interest in it. */
  follow(answer: Promise<Pick<HttpAnswer, 'status' | 'headers' | 'bytes'>>): void;
};
