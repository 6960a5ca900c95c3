import samples from '../fixtures/samples.json' with { type: 'json' };

/** Answers in the form of public APIs, with the schemas that an author would write for them, by hand. */
export interface AcceptedSample {
  readonly api: string;
  /** As values, or as texts where the digits matter. */
  readonly samples: readonly (string | object)[];
  readonly input?: readonly string[];
  readonly shape: object;
  /** Later answers of the same API, as the tool returns them. */
  readonly later?: readonly object[];
  readonly wrong?: readonly object[];
  /** What the command says that it changed. */
  readonly left?: readonly string[];
}

/** Samples that are refused, with the reason. */
export interface RefusedSample {
  readonly api: string;
  readonly samples: readonly (string | object)[];
  /** A regular expression. */
  readonly message: string;
}

export const accepted = samples.accepted as readonly AcceptedSample[];
export const refused: readonly RefusedSample[] = samples.refused;
