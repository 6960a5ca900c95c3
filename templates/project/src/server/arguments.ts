type Members = Record<string, unknown>;

/**
 * A deep copy that inherits nothing: `input.constructor` is a parameter or nothing, and defaults apply to every name.
 * The objects inside are ordinary ones, because Ajv can compare no others (`uniqueItems`, `const`, `enum`). Nothing the
 * callee changes reaches the original. Works without recursion, so that any depth fits.
 */
export function copyArguments(value: unknown): unknown {
  const unfilled: [source: Members, copy: Members][] = [];
  const copyOf = (source: unknown, blank: () => Members): unknown => {
    if (typeof source !== 'object' || source === null) return source;
    const copy = Array.isArray(source) ? ([] as unknown as Members) : blank();
    unfilled.push([source as Members, copy]);
    return copy;
  };
  const root = copyOf(value, () => Object.create(null));
  for (let next = unfilled.pop(); next !== undefined; next = unfilled.pop()) {
    const [source, copy] = next;
    for (const name of Object.keys(source)) put(copy, name, copyOf(source[name], ordinary));
  }
  return root;
}

const ordinary = (): Members => ({});

/** Sets a member of any name; assigned, `__proto__` would replace the prototype. */
function put(copy: Members, name: string, value: unknown): void {
  if (name !== '__proto__') copy[name] = value;
  else Object.defineProperty(copy, name, { value, writable: true, enumerable: true, configurable: true });
}
