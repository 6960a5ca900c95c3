/** One error of an author's input that cannot be fixed for them. */
export interface InputError {
  /** Flag, question, or path in a spec file: `--input "limit:int"`, `tools[2].outputSchema`. */
  readonly where: string;
  /** The given value, shortened for display; absent if something is missing. */
  readonly value?: string;
  readonly message: string;
  /** What to write instead. */
  readonly hint: string;
  /** The tool of a list that contains it. */
  readonly tool?: string;
  /** The rule of the contract that it fails. */
  readonly rule?: string;
}

/** A value, or all its errors. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly errors: readonly InputError[];
      /** Names of the tools of the same list without errors. */
      readonly accepted?: readonly string[];
    };
