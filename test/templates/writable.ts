/** A type without `readonly`; objects of any members, which have no end, are cut short. */
export type Writable<T> = T extends readonly (infer One)[]
  ? Writable<One>[]
  : T extends object
    ? string extends keyof T
      ? { [name: string]: unknown }
      : { -readonly [Name in keyof T]: Writable<T[Name]> }
    : T;
