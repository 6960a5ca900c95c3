/**
 * Caches a function of a text: the files of a project are parsed several times.
 *
 * @param limit how many results are kept, the latest
 */
export function memoize<T>(read: (text: string) => T, limit = Number.POSITIVE_INFINITY): (text: string) => T {
  const cache = new Map<string, T>();
  return (text) => {
    if (cache.has(text)) return cache.get(text) as T;
    const result = read(text);
    const [oldest] = cache.keys();
    if (cache.size >= limit && oldest !== undefined) cache.delete(oldest);
    cache.set(text, result);
    return result;
  };
}
