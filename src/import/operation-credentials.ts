import type { Api, ApiCall, ApiKey, ImportedTool, KeyAlternatives } from './imported-tool.ts';

/** What the file of an API sends, as far as its text says. */
export interface SentByFile {
  /** The variables that it sends with every request. */
  readonly sharedVariables: ReadonlySet<string>;
  /** What requests send that state nothing; undefined: `sharedVariables`. */
  readonly auth?: KeyAlternatives;
}

/**
 * Decides how the requests of tools get their keys. An API sends the same keys with every request if that is what all its
 * operations need. Otherwise its file names the keys; each request states which it needs, or the file does if all need the same.
 *
 * @param fileOf the existing file of an API, which stays unchanged: requests that need something else state it
 */
export function withCredentials<T extends Pick<ImportedTool, 'call'>>(
  tools: readonly T[],
  fileOf: (api: Api) => SentByFile | undefined = () => undefined,
): readonly T[] {
  const forms = new Map<string, Form>();
  for (const { call } of tools) {
    if (!call?.acceptedKeys || forms.has(call.api.file)) continue;
    const needs = tools.flatMap((tool) =>
      tool.call?.api.file === call.api.file ? [tool.call.acceptedKeys ?? []] : [],
    );
    const file = fileOf(call.api);
    forms.set(call.api.file, file ? addedForm(needs, file) : freshForm(needs));
  }
  return tools.map((tool) => {
    const { call } = tool;
    const form = call?.acceptedKeys && forms.get(call.api.file);
    if (!form) return tool;
    const { sharedKeys, namedKeys, auth, isStated } = form;
    const { file, title, address } = call.api;
    const api: Api = {
      ...{ file, title, address, sharedKeys },
      ...(namedKeys.length > 0 && { namedKeys }),
      ...(auth && { auth }),
    };
    return {
      ...tool,
      call: {
        ...call,
        api,
        auth: isStated(call.acceptedKeys) ? keyAlternatives(call.acceptedKeys) : undefined,
      },
    };
  });
}

type Needs = NonNullable<ApiCall['acceptedKeys']>;

function optional(key: ApiKey): ApiKey {
  return { ...key, variables: key.variables.map((variable) => ({ ...variable, optional: true as const })) };
}

interface Form {
  readonly sharedKeys: readonly ApiKey[];
  readonly namedKeys: readonly ApiKey[];
  readonly auth?: KeyAlternatives;
  /** Whether a request states its needs. */
  isStated(needs: Needs): boolean;
}

function freshForm(needsOfTools: readonly Needs[]): Form {
  const [first = [[]]] = needsOfTools;
  const isSame = needsOfTools.every((needs) => equal(needs, first));
  // With the scopes of all.
  const allKeys = placed(needsOfTools.flat());
  if (isSame && sharedBy(first)) return { sharedKeys: allKeys, namedKeys: [], isStated: () => false };
  if (isSame)
    return { sharedKeys: [], namedKeys: allKeys, auth: keyAlternatives(first), isStated: () => false };
  return { sharedKeys: [], namedKeys: allKeys, isStated: (needs) => !equal(needs, [[]]) };
}

function addedForm(needsOfTools: readonly Needs[], { sharedVariables, auth }: SentByFile): Form {
  const isStated = (needs: Needs) => {
    if (auth) return JSON.stringify(auth) !== JSON.stringify(keyAlternatives(needs));
    const variables = sharedBy(needs)?.flatMap((key) => key.variables.map(({ name }) => name));
    return (
      variables?.length !== sharedVariables.size || !variables.every((name) => sharedVariables.has(name))
    );
  };
  const statedNeeds = needsOfTools.filter(isStated);
  // The server starts without what only the new requests need.
  const isNew = (key: ApiKey) => key.variables.some(({ name }) => !sharedVariables.has(name));
  const namedKeys = distinct(statedNeeds.flat(2)).map((key) => (isNew(key) ? optional(key) : key));
  const otherKeys = needsOfTools.filter((needs) => !isStated(needs)).flatMap((needs) => placed(needs));
  const newKeys = auth ? [] : distinct(otherKeys);
  const allNamedKeys = auth ? distinct([...namedKeys, ...otherKeys]) : namedKeys;
  return { sharedKeys: newKeys, namedKeys: allNamedKeys, isStated };
}

/** The keys that can be sent with every request of these needs; undefined if they depend on what is set. */
function sharedBy(needs: Needs): readonly ApiKey[] | undefined {
  const keys = placed(needs);
  const left = keys.filter(({ variables }) => variables.some((variable) => variable.optional));
  const places = keys.map((key) => `${key.in} ${key.name.toLowerCase()}`);
  // Each optional key can be left out, whichever of the others are sent.
  const isIndependent = needs.length === 2 ** left.length;
  if (isIndependent && new Set(places).size === places.length) return keys;
  return undefined;
}

/** The keys of all alternatives, each once; one that is not in all of them is optional. */
function placed(alternatives: Needs): readonly ApiKey[] {
  const isInAll = ({ key }: ApiKey) =>
    alternatives.every((keys) => keys.some((candidate) => candidate.key === key));
  return distinct(alternatives.flat().map((key) => (isInAll(key) ? key : optional(key))));
}

/** Each key once, with the scopes of all. */
function distinct(keyList: readonly ApiKey[]): readonly ApiKey[] {
  const keys = new Map<string, ApiKey>();
  for (const key of keyList) {
    const wider = new Set([...(keys.get(key.key)?.scopes ?? []), ...(key.scopes ?? [])]);
    keys.set(key.key, wider.size > 0 ? { ...key, scopes: [...wider] } : key);
  }
  return [...keys.values()];
}

function keyAlternatives(needs: Needs): KeyAlternatives {
  if (equal(needs, [[]])) return [];
  return needs.map((keys) => keys.map(({ key }) => key));
}

function equal(a: Needs, b: Needs): boolean {
  const text = (needs: Needs) => JSON.stringify(needs.map((keys) => keys.map(({ key }) => key)));
  return text(a) === text(b);
}
