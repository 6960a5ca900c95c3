import { inspect } from 'node:util';

/** Text that only the request that needs it can read: logs, errors, stacks and JSON contain `[secret NAME]`. */
export class Secret {
  readonly #name: string;
  readonly #text: string | null;
  #parts: readonly string[] = [];
  /** Whatever needs it is left out if it is not set. */
  readonly isOptional: boolean;

  /** @param text null if the variable is not set */
  constructor(name: string, text: string | null, isOptional = false) {
    this.#name = name;
    this.#text = text;
    this.isOptional = isOptional;
  }

  /** This secret with text before it, as a new secret: `env.API_KEY.after('Bearer ')`. */
  after(prefix: string): Secret {
    const whole = new Secret(this.#name, this.#text === null ? null : prefix + this.#text, this.isOptional);
    whole.#parts = this.texts();
    return whole;
  }

  /** The text and its parts: everything that no recording may contain. */
  texts(): readonly string[] {
    return this.#text === null ? [] : [this.#text, ...this.#parts];
  }

  /** The text itself, for the one request that sends it; null if the variable is not set. */
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
