/** A type without `readonly`. An object with an index signature becomes `{ [name: string]: unknown }`, which ends recursion. */
export type Writable<T> = T extends readonly (infer One)[]
  ? Writable<One>[]
  : T extends object
    ? string extends keyof T
      ? { [name: string]: unknown }
      : { -readonly [Name in keyof T]: Writable<T[Name]> }
    : T;
