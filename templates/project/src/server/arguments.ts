type Members = Record<string, unknown>;

/**
 * A deep copy whose objects have no prototype: `input.constructor` is a parameter or nothing, defaults apply to every
 * name, and nothing the callee changes reaches the original. Works without recursion, so that any depth fits.
 */
export function copyArguments(value: unknown): unknown {
  const unfilled: [source: Members, copy: Members][] = [];
  const copyOf = (source: unknown): unknown => {
    if (typeof source !== 'object' || source === null) return source;
    const copy = Array.isArray(source) ? [] : Object.create(null);
    unfilled.push([source as Members, copy]);
    return copy;
  };
  const root = copyOf(value);
  for (let next = unfilled.pop(); next !== undefined; next = unfilled.pop()) {
    const [source, copy] = next;
    for (const name of Object.keys(source)) copy[name] = copyOf(source[name]);
  }
  return root;
}
