import type { ValidateFunction } from 'ajv';

const memory = { schemas: 16, characters: 20_000 };

/** The validators used last, by the text of their schema. A schema is often compiled several times in a row: for a default, an example, a rule. */
export class RecentValidators {
  readonly #known = new Map<string, ValidateFunction>();

  get(text: string): ValidateFunction | undefined {
    return this.#known.get(text);
  }

  /** Keeps a validator, unless its schema is large. */
  keep(text: string, validate: ValidateFunction): void {
    if (text.length > memory.characters) return;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= memory.schemas && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(text, validate);
  }
}
