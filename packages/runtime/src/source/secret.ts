// Values of secret variables, which logs and errors never contain.

import { inspect } from 'node:util';

/** A secret text, which only the request that needs it reads. Logs, errors, stacks and JSON contain `[secret NAME]` instead. */
export class Secret {
  readonly #name: string;
  readonly #text: string | null;
  readonly #parts: readonly string[];
  /** If it is not set, the header or parameter that needs it is not sent. */
  readonly isOptional: boolean;

  /**
   * @param text null if the variable is not set
   * @param parts parts of the text that are secret, too
   */
  constructor(name: string, text: string | null, isOptional = false, parts: readonly string[] = []) {
    this.#name = name;
    this.#text = text;
    this.isOptional = isOptional;
    this.#parts = parts;
  }

  /** This secret with text before it, as a new secret: `env.API_KEY.after('Bearer ')`. */
  after(prefix: string): Secret {
    const fullText = this.#text === null ? null : prefix + this.#text;
    return new Secret(this.#name, fullText, this.isOptional, this.texts());
  }

  /** The text and its parts: everything that no caller and no recording may get. */
  texts(): readonly string[] {
    if (this.#text === null) return [];
    return [this.#text, ...this.#parts];
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
  const pair = name == null || word == null ? null : `${name}:${word}`;
  const encoded = pair === null ? null : Buffer.from(pair).toString('base64');
  const secrets = [user, password].filter((part) => typeof part !== 'string');
  const unset = secrets.filter((part) => part.reveal() === null).map((part) => part.name);
  const parts = secrets.flatMap((part) => part.texts());
  return new Secret(
    unset.join(' and ') || secrets.at(-1)?.name || String(user),
    encoded === null ? null : `Basic ${encoded}`,
    secrets.some(({ isOptional }) => isOptional),
    encoded === null || pair === null ? [] : [encoded, pair, ...parts],
  );
}
