import type { ValidateFunction } from 'ajv';

const memory = { schemas: 32, characters: 20_000 };
const known = new Map<string, ValidateFunction>();

/**
 * The validators used last, by the way their schema was read and its text. A schema is often compiled several times in a row: for
 * a default, an example, a rule.
 */
export const recent = {
  get(key: string): ValidateFunction | undefined {
    return known.get(key);
  },

  /** Keeps a validator, unless its schema is large. */
  keep(key: string, validate: ValidateFunction): void {
    if (key.length > memory.characters) return;
    const [oldest] = known.keys();
    if (known.size >= memory.schemas && oldest !== undefined) known.delete(oldest);
    known.set(key, validate);
  },
};
