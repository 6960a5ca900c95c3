/** A reader with a cache: the files of a project are read several times. */
export function memoize<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    if (known.has(text)) return known.get(text) as T;
    const result = read(text);
    known.set(text, result);
    return result;
  };
}
