import type { NotRunCause } from './model.ts';

/** Thrown by a live rule that cannot be judged; the message is the reason. */
export class NotRun extends Error {
  override readonly name: string = 'NotRun';
  readonly kind: NotRunCause;

  constructor(reason: string, kind: NotRunCause = 'missing', options?: ErrorOptions) {
    super(reason, options);
    this.kind = kind;
  }
}
