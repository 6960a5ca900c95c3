/** What a text is as JSON, or what keeps it from being JSON, and where if that is known (`line:column`). */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly kind: 'syntax'; readonly flaw: string }
  | { readonly ok: false; readonly kind: 'key'; readonly flaw: string; readonly at: string };

/** Reads JSON text, each key of an object once; a byte order mark is skipped. */
export function readJson(given: string): JsonReading {
  const text = given.replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, kind: 'syntax', flaw: (error as Error).message };
  }
  const twice = repeatedKey(text);
  if (twice === undefined) return { ok: true, value };
  const lines = text.slice(0, twice.index).split('\n');
  const at = `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
  return { ok: false, kind: 'key', flaw: `${twice.key} is not unique in its object`, at };
}

/** The first key that its object has already, in text that is valid JSON. */
function repeatedKey(text: string): { readonly key: string; readonly index: number } | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (const { 0: token, 1: key, index } of text.matchAll(
    /("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}[\]]/g,
  )) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (key !== undefined) {
      const keys = open.at(-1);
      const name: string = JSON.parse(key);
      if (keys?.has(name)) return { key, index };
      keys?.add(name);
    }
  }
  return undefined;
}
