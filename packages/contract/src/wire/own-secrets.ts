import { isSecretValue } from '../command/secret-values.ts';
import type { HttpAnswer } from './http.ts';

/** A secret in an answer. */
export interface FoundSecret {
  /** Names the secret without its value. */
  readonly name: string;
  readonly at: number;
}

/** The secrets that the check itself knows: its tokens, the values of its headers, and those of the project. */
export class OwnSecrets {
  readonly #names = new Map<string, string>();

  add(value: string, name: string): void {
    if (value !== '') this.#names.set(value, name);
  }

  /** Adds the secret part of a header, which may follow a scheme (`Bearer …`). */
  addHeader(name: string, value: string): void {
    for (const text of [value, ...value.split(' ').slice(1)])
      if (isSecretValue(name, text)) this.add(text, `the value of the header ${name}`);
  }

  /** The first secret that an answer contains. What the body or the address of a request says may come back. */
  foundIn({ body, request }: Pick<Required<HttpAnswer>, 'body' | 'request'>): FoundSecret | undefined {
    for (const [value, name] of this.#names) {
      const escaped = JSON.stringify(value).slice(1, -1);
      const at = body.indexOf(escaped);
      const requestText = `${request.body ?? ''} ${request.url.href} ${request.target ?? ''}`;
      if (at >= 0 && !requestText.includes(value) && !requestText.includes(escaped)) return { name, at };
    }
    return undefined;
  }
}
