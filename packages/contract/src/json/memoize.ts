/** Caches a function of a text: the files of a project are parsed several times. */
export function memoize<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    if (known.has(text)) return known.get(text) as T;
    const result = read(text);
    known.set(text, result);
    return result;
  };
}
