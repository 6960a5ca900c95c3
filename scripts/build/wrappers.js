const wrapper = /(?<=\b(?:require_rolldown_runtime\.\w+|__commonJSMin)\(\()\((?<names>[\w$, ]*)\) => \{/g;

/**
 * Wraps the CommonJS modules of a bundle, which run at once, in functions. V8 parses a
 * `(function` in one pass; for an arrow function it first looks for the end, and parses the body a second time.
 */
export function inFunctions(code) {
  return code.replaceAll(wrapper, 'function($<names>) {');
}

/** `inFunctions` as a plugin of rolldown. */
export function functionWrappers() {
  return { name: 'function wrappers', renderChunk: inFunctions };
}
