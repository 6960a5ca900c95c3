import { isKeyName } from 'market-mcp-contract/command';
import { placeholderIn } from '../key-names.ts';
import type { ApiKey, ApiVariable } from '../model.ts';
import { constantOf, plainName } from '../openapi/schemes.ts';

/** A key and its place, without its variables. */
type Placed = Omit<ApiKey, 'key' | 'variables'>;

/** The keys of a request, each with variables of its own. */
export class KeyParts {
  readonly all: ApiKey[] = [];
  /** The value of each variable; null if a placeholder stands for it. */
  readonly secrets = new Map<string, string | null>();
  readonly #prefix: string;
  readonly #title: string;
  readonly #known: readonly ApiVariable[];

  /** @param known variables of the project: a key that it has keeps its own */
  constructor(prefix: string, title: string, known: readonly ApiVariable[]) {
    this.#prefix = prefix;
    this.#title = title;
    this.#known = known;
  }

  /** @param scheme what stands before the key: `Bearer` */
  header(name: string, scheme: string, text: string): void {
    const [, pair] = /^Basic +(\S+)$/i.exec(text) ?? [];
    if (pair === undefined) {
      const isBearer = name === 'authorization' && scheme === 'Bearer';
      const prefix = scheme === '' || isBearer ? {} : { prefix: `${scheme} ` };
      this.add({ in: 'headers', name, kind: isBearer ? 'bearer' : 'plain', ...prefix }, text);
      return;
    }
    const [user = '', ...rest] = Buffer.from(pair, 'base64').toString('utf8').split(':');
    const password = rest.join(':');
    this.add({ in: 'headers', name, kind: 'basic' }, user, ...(password === '' ? [] : [password]));
  }

  add(placed: Placed, ...values: readonly string[]): void {
    const { name, kind } = placed;
    // Outside of a header, only the name of its variable says that it stands for a key when the request is repeated.
    const isNamed = placed.in === 'headers' || isKeyName(name);
    const own = name === 'authorization' ? 'TOKEN' : `${constantOf(name)}${isNamed ? '' : '_KEY'}`;
    const variables = (kind !== 'basic' ? [own] : values.length > 1 ? ['USER', 'PASSWORD'] : ['KEY']).map(
      (suffix, i) => {
        const text =
          kind === 'basic'
            ? `${i === 0 ? 'User or key' : 'Password of that user'} at ${this.#title}`
            : `Key that ${this.#title} takes as ${name}`;
        const said = placeholderIn(values[i] ?? '');
        const known = this.#known.find((one) => one.kind === 'secret' && one.text === text);
        const variable = known?.name ?? (said || `${this.#prefix}_${suffix}`);
        this.secrets.set(variable, said === undefined ? (values[i] ?? '') : null);
        return { name: variable, kind: 'secret' as const, text };
      },
    );
    this.all.push({ key: plainName(name), ...placed, variables });
  }
}
