const token = "[!#$%&'*+.^_`|~\\w-]+";
const quoted = '"(?:[^"\\\\]|\\\\.)*"';
const parameter = `;[ \\t]*(?:(${token})=(${token}|${quoted})[ \\t]*)?`;
const syntax = new RegExp(`^[ \\t]*(${token}/${token})[ \\t]*((?:${parameter})*)$`);

/** A media type of HTTP (RFC 9110 §8.3.1), taken apart. */
export interface MediaType {
  /** Type and subtype in lower case: `application/json`. */
  readonly name: string;
  /** Parameters by their names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Returns null for a text that is no media type. */
export function parseMediaType(text: string): MediaType | null {
  const [, name, rest = ''] = syntax.exec(text) ?? [];
  if (name === undefined) return null;
  const pairs = [...rest.matchAll(new RegExp(parameter, 'g'))];
  const parameters = pairs.map(([, key = '', value = '']) => {
    const unquoted = value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value;
    return [key.toLowerCase(), unquoted] as const;
  });
  return { name: name.toLowerCase(), parameters: new Map(parameters) };
}

function nameMatches(text: string, pattern: RegExp): boolean {
  return pattern.test(parseMediaType(text)?.name ?? '');
}

/** Whether content of a type is JSON: `application/json`, `text/json`, each `+json` (RFC 6839), the JSON types of AWS. */
export function isJsonType(type: string): boolean {
  return nameMatches(type, /^(?:application|text)\/(?:x-)?(?:amz-)?json(?:-\d[\d.]*)?$|^[^*]+\+json$/);
}

/** Whether a type, or a range of types such as `application/*`, includes JSON. */
export function mayBeJson(type: string): boolean {
  return isJsonType(type) || nameMatches(type, /^(?:\*|application)\/\*(?:\+json)?$/);
}

export function isFormType(type: string): boolean {
  return nameMatches(type, /^application\/x-www-form-urlencoded$/);
}

export function isMultipartType(type: string): boolean {
  return nameMatches(type, /^multipart\/form-data$/);
}

/** Whether a media type is binary: `application/octet-stream`, `image/png`. Ranges (`image/*`) cannot be sent. */
export function isBinaryType(type: string): boolean {
  if (isJsonType(type) || nameMatches(type, /\+xml$|^application\/x-(?:www-form-urlencoded|ndjson|yaml)$/))
    return false;
  return (
    nameMatches(type, /^(?:image|audio|video|font|model)\/[^*]+$/) ||
    nameMatches(type, /^application\/(?:octet-stream|binary|pdf|zip|gzip|x-[^*]+|vnd\.[^*+]+)$/)
  );
}

/**
 * Returns the JSON types of a request or a response, the preferred one first: `application/json`, then the others in their
 * order. A JSON Patch (RFC 6902) is a list of operations, so it comes last for anything else.
 */
export function preferredJsonTypes(
  types: readonly string[],
  isList: (type: string) => boolean,
): readonly string[] {
  const rank = (type: string) => {
    if (nameMatches(type, /^application\/json$/)) return 0;
    if (nameMatches(type, /\/json-patch\+json$/) && !isList(type)) return 2;
    return 1;
  };
  return types.filter(isJsonType).toSorted((a, b) => rank(a) - rank(b));
}
