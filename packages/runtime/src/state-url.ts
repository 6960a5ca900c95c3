/** The value of STATE_URL; null if it is unset. @throws Error that does not repeat the value: it may contain a password */
export function stateUrlOf(text: string | null): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isRedis = /^rediss?:$/.test(url?.protocol ?? '') && /^\/?\d{0,9}$/.test(url?.pathname ?? '');
  if (url && isRedis && url.hostname !== '' && secretsIn(url) !== null) return text;
  throw new Error(
    'expected a URL such as redis://user:password@host:6379/0, with special characters of the password as %XX.',
  );
}

/** What the log must not contain of a URL, in both forms; null if it cannot be decoded. */
export function secretsIn({ password, search }: URL): readonly string[] | null {
  try {
    return [password, decodeURIComponent(password), search].filter((text) => text !== '');
  } catch {
    return null;
  }
}
