import { childPointer, isObject, type Json } from 'market-mcp-contract/json';
import type { ApiKey } from '../imported-tool.ts';
import { DocumentRefusal, type OpenApiDocument } from './openapi-document.ts';
import { type ApiOperation, operationsOf, unlessBroken } from './operations.ts';
import { type Described, isScope, type KeyParameter, keyParametersOf, ofScheme } from './schemes.ts';

/** Beyond these, a hostile document would have endless combinations. */
const maxAlternatives = 20;
const maxOptional = 4;
const maxSchemes = 50;
const maxScopes = 100;

/** The keys of a document. Each has a separate variable, the same whatever operations are chosen. */
export class ApiKeys {
  readonly #document: OpenApiDocument;
  /** By the name of the scheme; null if no program can send it. */
  readonly #schemes = new Map<string, Described | null>();
  /** The first of each shape; then also the parameters. */
  readonly #byShape = new Map<string, Described>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
    const operations = operationsOf(document);
    const places = [document.root, ...operations.map(({ found }) => found)];
    const requirements = places.map(({ members }) => requirementOf(members.security) ?? []);
    const distinct = [...new Map(requirements.map((names) => [setOf(names), names])).values()];
    // Schemes that no operation names take no name from the others.
    const usedNames = new Set(distinct.flat(2));
    for (const [name, scheme] of this.#described().filter(([name]) => usedNames.has(name))) {
      const naming = distinct.filter((names) => names.some((group) => group.includes(name)));
      const twin = [...this.#schemes].slice(0, maxSchemes).find(
        ([otherName, otherScheme]) =>
          otherScheme &&
          scheme &&
          keyAppearance(otherScheme) === keyAppearance(scheme) &&
          // Whatever names the one names the other in the same way.
          naming.every((names) => setOf(swapNames(names, name, otherName)) === setOf(names)) &&
          naming.length ===
            distinct.filter((names) => names.some((group) => group.includes(otherName))).length,
      );
      const key = twin?.[1] ?? scheme;
      this.#schemes.set(name, key);
      if (key && !this.#byShape.has(keyAppearance(key))) this.#byShape.set(keyAppearance(key), key);
    }
    const parameters = operations.flatMap(
      (operation) => unlessBroken(() => keyParametersOf(operation, this.isScheme)) ?? [],
    );
    for (const { key } of parameters)
      if (!this.#byShape.has(keyAppearance(key))) this.#byShape.set(keyAppearance(key), key);
    this.#name();
  }

  /** Whether there is a key that looks the same in a request. */
  readonly isScheme = (key: Described): boolean => this.#byShape.has(keyAppearance(key));

  /**
   * What an operation accepts: alternatives of keys that are sent together, the alternative with most keys first.
   *
   * @param prefix of the variables
   * @throws Refusal if it accepts nothing that a program can send
   */
  neededBy(
    { found: operation }: ApiOperation,
    parameters: readonly KeyParameter[],
    prefix: string,
  ): readonly (readonly ApiKey[])[] {
    const { members, pointer } = Array.isArray(operation.members.security) ? operation : this.#document.root;
    const listed = requirementOf(members.security) ?? [];
    const sendable = (listed.length > 0 ? listed : [[]]).flatMap((names) => this.#sendable(names));
    if (sendable.length === 0) {
      const message =
        'it accepts none of the supported credentials: an API key, a bearer token, or a user with a password';
      throw new DocumentRefusal(message, childPointer(pointer, 'security'));
    }
    const keyParameters = parameters.map((parameter) => ({
      ...parameter,
      key: this.#byShape.get(keyAppearance(parameter.key)),
    }));
    const keysOf = (isRequired: boolean) =>
      keyParameters.flatMap((parameter) =>
        parameter.isRequired === isRequired && parameter.key ? [parameter.key] : [],
      );
    const optional = subsetsOf(keysOf(false).slice(0, maxOptional));
    const alternatives = sendable.slice(0, maxAlternatives).flatMap((keys) => {
      // A security scheme says more about its header than a parameter.
      const places = new Set(keys.map(keyPosition));
      const isFree = (key: Described) => keys.includes(key) || !places.has(keyPosition(key));
      return optional.map((optionalKeys) => [
        ...new Set([...keys, ...[...keysOf(true), ...optionalKeys].filter(isFree)]),
      ]);
    });
    const distinct = [
      ...new Map(alternatives.map((keys) => [setOf([keys.map(({ key }) => key)]), keys])).values(),
    ];
    const withKeys = distinct.filter((keys) => keys.length > 0);
    const scopes = this.#scopesIn(members.security);
    return [...withKeys, ...(withKeys.length < distinct.length ? [[]] : [])].map((keys) =>
      keys.map((key) => prefixedKey(key, prefix, scopes.get(key))),
    );
  }

  /** What an operation asks of the tokens that the server fetches itself. */
  #scopesIn(security: Json | undefined): ReadonlyMap<Described, readonly string[]> {
    const found = new Map<Described, readonly string[]>();
    const requirements = Array.isArray(security) ? security.filter(isObject).flatMap(Object.entries) : [];
    for (const [name, scopes] of requirements as readonly (readonly [string, Json])[]) {
      const key = this.#schemes.get(name);
      const scopeNames = Array.isArray(scopes) ? scopes.filter(isScope) : [];
      if (key?.kind === 'client' && scopeNames.length > 0)
        found.set(key, [...(found.get(key) ?? []), ...scopeNames]);
    }
    return found;
  }

  /** The keys of one alternative; none if one of them cannot be sent, or not beside another. */
  #sendable(names: readonly string[]): readonly (readonly Described[])[] {
    const keys = [...new Set(names.map((name) => this.#schemes.get(name)))];
    const keysByPlace = new Map<string, Described>();
    for (const key of keys) {
      if (!key) return [];
      const place = keyPosition(key);
      const otherKey = keysByPlace.get(place);
      // One header carries one token, whichever flow it comes from.
      if (otherKey && !(isToken(otherKey) && isToken(key))) return [];
      keysByPlace.set(place, otherKey ?? key);
    }
    return [[...keysByPlace.values()]];
  }

  #described(): readonly (readonly [string, Described | null])[] {
    const { root, version } = this.#document;
    const steps = version === '2.0' ? ['securityDefinitions'] : ['components', 'securitySchemes'];
    const schemes = unlessBroken(() => root.at(...steps).entries()) ?? [];
    return schemes.map(([name, scheme]) => [
      name,
      unlessBroken(() => ofScheme(name, scheme.members)) ?? null,
    ]);
  }

  /** Gives every key and every variable a unique name. */
  #name(): void {
    const keys = new Set([...this.#schemes.values(), ...this.#byShape.values()]);
    const takenNames = { keys: new Set<string>(), variables: new Set(['URL']) };
    for (const key of keys) {
      if (!key) continue;
      key.key = freeName([key.key], takenNames.keys);
      for (const variable of key.variables) {
        const { name } = variable;
        const variableName = key.other.endsWith(name) ? key.other : `${key.other}_${name}`;
        variable.name = freeName([name, variableName], takenNames.variables);
      }
    }
  }
}

/** The names of the schemes in `security`; undefined if it states nothing. */
function requirementOf(security: Json | undefined): readonly (readonly string[])[] | undefined {
  if (Array.isArray(security))
    return security.filter(isObject).map((requirement) => Object.keys(requirement));
  return undefined;
}

/** Equal for equal alternatives, in any order. */
function setOf(names: readonly (readonly string[])[]): string {
  return JSON.stringify([...new Set(names.map((group) => JSON.stringify(group.toSorted())))].sort());
}

function swapNames(
  names: readonly (readonly string[])[],
  a: string,
  b: string,
): readonly (readonly string[])[] {
  const otherNames = new Map([
    [a, b],
    [b, a],
  ]);
  return names.map((group) => group.map((name) => otherNames.get(name) ?? name));
}

/** Equal for keys that no request can carry side by side. */
function keyPosition({ in: place, name, cookie = '' }: Described): string {
  return `${place} ${place === 'headers' ? name.toLowerCase() : name} ${cookie}`;
}

function isToken({ kind }: Described): boolean {
  return kind === 'bearer' || kind === 'client';
}

/** Equal for keys that look the same in a request. */
function keyAppearance(key: Described): string {
  return `${key.kind} ${keyPosition(key)} ${key.variables[0]?.fallback ?? ''}`;
}

function prefixedKey(
  { other: _, ...key }: Described,
  prefix: string,
  scopes: readonly string[] = [],
): ApiKey {
  const variables = key.variables.map((variable) => ({ ...variable, name: `${prefix}_${variable.name}` }));
  return {
    ...key,
    variables,
    ...(scopes.length > 0 && { scopes: [...new Set(scopes)].slice(0, maxScopes) }),
  };
}

/** All subsets, the largest first. */
function subsetsOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  const [first, ...otherItems] = items;
  if (first === undefined) return [[]];
  const sets = subsetsOf(otherItems);
  return [...sets.map((set) => [first, ...set]), ...sets];
}

/** The first name that is not taken, else the last one with a number; it is taken afterwards. */
function freeName(names: readonly string[], takenNames: Set<string>): string {
  const last = names.at(-1) ?? '';
  let name = names.find((candidate) => !takenNames.has(candidate));
  for (let count = 2; name === undefined; count += 1) {
    if (!takenNames.has(`${last}_${count}`)) name = `${last}_${count}`;
  }
  takenNames.add(name);
  return name;
}
