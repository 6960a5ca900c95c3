/** Says on stderr why the process cannot start, and ends it with 1. */
export function refuse(reasons: readonly string[]): never {
  console.error(['Cannot start.', ...reasons.map((reason) => `- ${reason}`)].join('\n'));
  process.exit(1);
}
