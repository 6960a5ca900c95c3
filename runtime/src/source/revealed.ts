import { SourceError } from './errors.ts';
import { Secret } from './secret.ts';

/** What a source sends with every request. */
export interface Credentials {
  readonly headers?: { readonly [name: string]: string | Secret };
  readonly query?: { readonly [name: string]: string | Secret };
}

/** Name and text of each value; an optional secret that is not set is left out. */
export function revealed(
  values: { readonly [name: string]: string | Secret } = {},
): readonly (readonly [string, string])[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const text = value instanceof Secret ? value.reveal() : value;
    if (text !== null) return [[name, text] as const];
    if (value instanceof Secret && value.isOptional) return [];
    const detail = `${value} is not set`;
    console.error(JSON.stringify({ event: 'source', code: 'SOURCE_MISCONFIGURED', detail }));
    throw new SourceError('SOURCE_MISCONFIGURED', 'The server has no key for its source.');
  });
}

/** Everything that no answer to a caller and no recording may hold. */
export function secretsOf({ headers = {}, query = {} }: Credentials): readonly string[] {
  return [...Object.values(headers), ...Object.values(query)].flatMap((value) =>
    value instanceof Secret ? value.texts() : [],
  );
}
