/** A version of this program that fixes a vulnerability of generated servers. */
export interface SecurityFix {
  readonly version: string;
  readonly what: string;
}

/** The versions with security fixes, oldest first. */
export const securityFixes: readonly SecurityFix[] = [
  {
    version: '0.3.0',
    what: 'bounds the memory and time of bodies with an invalid token, of tiny chunks and of invalid arguments',
  },
];

/** Compares two exact versions, `1.2.3`: negative if the first is older. Anything after a `-` is ignored. */
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
