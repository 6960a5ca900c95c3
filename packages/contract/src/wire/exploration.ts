/** Generated calls for each tool, unless the caller names another number. */
export const standardCalls = 12;

/** The seed that chooses the generated calls, unless the caller names another. */
export const standardSeed = 1;

/** Further calls of a tool, at most: to compare answers, and to find the smallest call that fails. */
export const maxFurtherCalls = { usual: 32, live: 4 } as const;
