import { isKeyName } from 'market-mcp-contract/command';
import type { ApiKey, ApiVariable, KeySource } from '../imported-tool.ts';
import { constantOf, plainName } from '../openapi/schemes.ts';
import { keyPlaceholderIn } from '../recognize-keys.ts';
import type { AuthorRequest } from './author-request.ts';

/** Where a request has a key, and in which form. */
type KeyPosition = Omit<ApiKey, 'key' | 'variables'>;

/** The keys of a request, each with its own variables. */
export class KeyCollector {
  readonly apiKeys: ApiKey[] = [];
  /** Where the value of each key is, by its variable. */
  readonly sources = new Map<string, KeySource>();
  readonly #prefix: string;
  readonly #title: string;
  readonly #isRecorded: boolean;
  readonly #projectVariables: readonly ApiVariable[];

  /** @param projectVariables a key that the project has keeps its variable */
  constructor(
    { prefix, title }: { readonly prefix: string; readonly title: string },
    { shellVariables }: Pick<AuthorRequest, 'shellVariables'>,
    projectVariables: readonly ApiVariable[],
  ) {
    this.#prefix = prefix;
    this.#title = title;
    this.#isRecorded = shellVariables === null;
    this.#projectVariables = projectVariables;
  }

  /**
   * The variable that a text in the position of a key names.
   *
   * @returns null if the text is a placeholder that names no variable, such as `<token>`; undefined if it is the key itself
   */
  variableIn(text: string): string | null | undefined {
    if (this.#isRecorded) return undefined;
    const variable = keyPlaceholderIn(text);
    return variable === '' ? null : variable;
  }

  /**
   * Whether a text is the variable that this class gives to a key in this position, so that a replayed `?q=$API_Q_KEY` stays a key,
   * although `q` does not sound like one.
   */
  isOwnVariable(position: Pick<ApiKey, 'in' | 'name'>, text: string): boolean {
    return this.variableIn(text) === this.#variableFor(position);
  }

  #variableFor({ in: place, name }: Pick<ApiKey, 'in' | 'name'>): string {
    if (name === 'authorization') return `${this.#prefix}_TOKEN`;
    const isNamed = place === 'headers' || isKeyName(name);
    const variable = `${this.#prefix}_${constantOf(name)}`;
    return isNamed ? variable : `${variable}_KEY`;
  }

  /** @param scheme what stands before the key: `Bearer` */
  addHeader(name: string, scheme: string, text: string): void {
    const pair = Buffer.from(text, 'base64').toString('utf8');
    // Any other text is sent unchanged, because encoding it as a pair would change it.
    const isPair = scheme === 'Basic' && pair.includes(':') && Buffer.from(pair).toString('base64') === text;
    if (!isPair) {
      const isBearer = name === 'authorization' && scheme === 'Bearer';
      const prefix = scheme === '' || isBearer ? {} : { prefix: `${scheme} ` };
      this.add({ in: 'headers', name, kind: isBearer ? 'bearer' : 'plain', ...prefix }, text);
      return;
    }
    const [user = '', ...rest] = pair.split(':');
    const password = rest.join(':');
    this.add({ in: 'headers', name, kind: 'basic' }, user, ...(password === '' ? [] : [password]));
  }

  add(position: KeyPosition, ...values: readonly string[]): void {
    const { name, kind } = position;
    const suffixes = values.length > 1 ? ['USER', 'PASSWORD'] : ['KEY'];
    const names =
      kind === 'basic'
        ? suffixes.map((suffix) => `${this.#prefix}_${suffix}`)
        : [this.#variableFor(position)];
    const variables = names.map((ownName, i) => {
      let text = `Key that ${this.#title} takes as ${name}`;
      if (kind === 'basic') text = `${i === 0 ? 'User or key' : 'Password of that user'} at ${this.#title}`;
      const value = values[i] ?? '';
      const statedName = this.variableIn(value);
      const projectVariable = this.#projectVariables.find(
        (candidate) => candidate.kind === 'secret' && candidate.text === text,
      );
      const variable = projectVariable?.name ?? statedName ?? ownName;
      this.sources.set(variable, statedName === undefined ? { value } : { variable: statedName ?? variable });
      return { name: variable, kind: 'secret' as const, text };
    });
    this.apiKeys.push({ key: plainName(name), ...position, variables });
  }
}
