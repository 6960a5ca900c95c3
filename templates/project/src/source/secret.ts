import { inspect } from 'node:util';

/** Text that only the request that needs it can read: logs, errors, stacks and JSON show `[secret NAME]`. */
export class Secret {
  readonly #name: string;
  readonly #text: string | null;
  #parts: readonly string[] = [];
  /** What needs it is left out where it is not set. */
  readonly isOptional: boolean;

  /** @param text null where the variable is not set */
  constructor(name: string, text: string | null, isOptional = false) {
    this.#name = name;
    this.#text = text;
    this.isOptional = isOptional;
  }

  /** A secret that is this one with text before it: `env.API_KEY.after('Bearer ')`. */
  after(prefix: string): Secret {
    const whole = new Secret(this.#name, this.#text === null ? null : prefix + this.#text, this.isOptional);
    whole.#parts = this.texts();
    return whole;
  }

  /** The text and what it was made of: everything that no recording may hold. */
  texts(): readonly string[] {
    return this.#text === null ? [] : [this.#text, ...this.#parts];
  }

  /** The text itself, for the one request that sends it; null where the variable is not set. */
  reveal(): string | null {
    return this.#text;
  }

  get name(): string {
    return this.#name;
  }

  toString(): string {
    return `[secret ${this.#name}]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** HTTP's basic authentication: the value of an `authorization` header. */
export function basic(user: Secret | string, password: Secret | string): Secret {
  const [name, word] = [user, password].map((part) => (typeof part === 'string' ? part : part.reveal()));
  const text =
    name == null || word == null ? null : `Basic ${Buffer.from(`${name}:${word}`).toString('base64')}`;
  return new Secret(password instanceof Secret ? password.name : String(user), text);
}
