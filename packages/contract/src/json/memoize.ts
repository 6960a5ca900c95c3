/**
 * Caches a function of a text: the files of a project are parsed several times.
 *
 * @param most how many results are kept, the latest
 */
export function memoize<T>(read: (text: string) => T, most = Number.POSITIVE_INFINITY): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    if (known.has(text)) return known.get(text) as T;
    const result = read(text);
    const [oldest] = known.keys();
    if (known.size >= most && oldest !== undefined) known.delete(oldest);
    known.set(text, result);
    return result;
  };
}
