import type { ValidateFunction } from 'ajv';

const memory = { schemas: 32, characters: 20_000 };
const recentValidators = new Map<string, ValidateFunction>();

/**
 * The validators used last, by the way their schema was read and its text. A schema is often compiled several times in a row: for
 * a default, an example, a rule.
 */
export const recent = {
  get(key: string): ValidateFunction | undefined {
    return recentValidators.get(key);
  },

  /** Keeps a validator, unless its schema is large. */
  keep(key: string, validate: ValidateFunction): void {
    if (key.length > memory.characters) return;
    const [oldest] = recentValidators.keys();
    if (recentValidators.size >= memory.schemas && oldest !== undefined) recentValidators.delete(oldest);
    recentValidators.set(key, validate);
  },
};
