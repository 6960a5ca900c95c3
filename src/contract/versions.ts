/** A version of this program that fixes what callers could use against a server. */
export interface SecurityFix {
  readonly version: string;
  readonly what: string;
}

/** Every version that a server should not stay behind, oldest first. */
export const securityFixes: readonly SecurityFix[] = [
  {
    version: '0.2.0',
    what: 'bounds the memory and the connections that unpaid requests, slow readers and silent clients can hold',
  },
];

/** Order of two exact versions, `1.2.3`: negative where the first is older. What stands behind a `-` does not count. */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [numbersIn(a), numbersIn(b)];
  for (let i = 0; i < 3; i += 1) {
    const difference = (x[i] ?? 0) - (y[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersIn(version: string): readonly number[] {
  return version.split('-', 1)[0]?.split('.').map(Number) ?? [];
}
