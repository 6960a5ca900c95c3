import type { HttpAnswer, SentRequest } from './http.ts';

/** Called before each request of a run, with its real headers. */
export type Recorder = (request: SentRequest) => {
  /** Headers that are sent besides. */
  readonly headers: Readonly<Record<string, string>>;
  /** Gets the answer; of a stream of events, the part before its end or before nobody needs more. */
  follow(answer: Promise<Pick<HttpAnswer, 'status' | 'headers' | 'bytes'>>): void;
};
