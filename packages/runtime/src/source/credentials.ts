// Which keys of a source a request sends.

import { startErrors } from '../process.ts';
import { attachExplanation } from './failure-log.ts';
import { isReplaying } from './recordings.ts';
import { Secret } from './secret.ts';
import { SourceError } from './source-errors.ts';

type Texts = { readonly [name: string]: string | Secret };

/** Headers, query parameters and members of a body that carry secrets. */
export interface Credentials {
  readonly headers?: Texts;
  readonly query?: Texts;
  readonly body?: Texts;
}

/**
 * Names of credentials that are sent together. Of several such lists the first is sent whose secrets are all set; an empty
 * one sends nothing.
 */
export type Alternatives = readonly (readonly string[])[];

/** All credentials of a source. */
export interface SourceCredentials extends Credentials {
  readonly credentials?: { readonly [name: string]: Credentials };
  readonly auth?: Alternatives;
}

/** The names and texts that a request sends, and the environment variables of its secrets. */
type SentCredentials = {
  readonly [place in keyof Required<Credentials>]: readonly (readonly [string, string])[];
} & {
  readonly variables: readonly string[];
};

/**
 * The credentials that a request sends.
 *
 * @param path as the author wrote it, for the log
 * @param auth names of credentials; undefined for the `headers`, `query` and `body` of the source
 * @throws SourceError `SOURCE_MISCONFIGURED` if a secret is not set; the log names it
 */
export function credentialsToSend(
  source: SourceCredentials,
  path: string,
  auth = source.auth,
): SentCredentials {
  if (auth === undefined) {
    const { headers, query, body } = source;
    const variables = secretVariables([source]);
    return { headers: revealTexts(headers), query: revealTexts(query), body: revealTexts(body), variables };
  }
  const chosenNames = chooseCredentials(source, auth);
  if (!chosenNames)
    throw missingKeyError(`${path} needs ${describeUnsetSecrets(source, auth)}, which must be set`);
  const { headers, query, body } = source;
  const shared = {
    headers: withoutSecrets(headers),
    query: withoutSecrets(query),
    body: withoutSecrets(body),
  };
  const allCredentials: readonly Credentials[] = [
    shared,
    ...chosenNames.map((name) => source.credentials?.[name] ?? {}),
  ];
  return {
    headers: withOneCookie(allCredentials.flatMap(({ headers }) => revealTexts(headers))),
    query: allCredentials.flatMap(({ query }) => revealTexts(query)),
    body: allCredentials.flatMap(({ body }) => revealTexts(body)),
    variables: secretVariables(allCredentials),
  };
}

/** Reports, before the server starts, that a source lacks the secrets of every alternative. */
export function reportCredentials(source: SourceCredentials): void {
  const { auth = [] } = source;
  if (isReplaying() || chooseCredentials(source, auth)) return;
  startErrors.push(`${describeUnsetSecrets(source, auth)}: must be set.`);
}

/** All secret texts of a source, which no answer to a caller and no recording may contain. */
export function allSecretsOf({
  headers,
  query,
  body,
  credentials = {},
}: SourceCredentials): readonly string[] {
  return [{ headers, query, body }, ...Object.values(credentials)]
    .flatMap(secretsInCredentials)
    .flatMap((secret) => secret.texts());
}

/** The secrets that a request sends. @param auth the names of its credentials */
export function secretsToSend(source: SourceCredentials, auth = source.auth): readonly Secret[] {
  if (auth === undefined) return secretsInCredentials(source);
  return (chooseCredentials(source, auth) ?? []).flatMap((name) =>
    secretsInCredentials(source.credentials?.[name] ?? {}),
  );
}

/** The variables of the secrets, also of optional ones that are not set. */
export function secretVariables(allCredentials: readonly Credentials[]): readonly string[] {
  return [...new Set(allCredentials.flatMap(secretsInCredentials).map(({ name }) => name))];
}

/** The secrets in headers, query and body. */
export function secretsInCredentials({
  headers = {},
  query = {},
  body = {},
}: Credentials): readonly Secret[] {
  return [headers, query, body].flatMap(Object.values).filter((value) => value instanceof Secret);
}

/** The name and the text of each value. An optional secret that is not set is skipped. */
export function revealTexts(values: Texts = {}): readonly (readonly [string, string])[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const text = value instanceof Secret ? value.reveal() : value;
    if (text !== null) return [[name, text] as const];
    if (value instanceof Secret && value.isOptional) return [];
    throw missingKeyError(`${value} is not set`);
  });
}

function missingKeyError(detail: string): SourceError {
  const error = new SourceError('SOURCE_MISCONFIGURED', 'The server has no key for its source.');
  return attachExplanation(error, { detail, hint: 'Set it in .env, or where the server runs.' });
}

function chooseCredentials(source: SourceCredentials, auth: Alternatives): readonly string[] | undefined {
  if (auth.length === 0) return [];
  return auth.find((names) => unsetSecrets(source, names).length === 0);
}

/** The secrets of an alternative that are not set. @throws Error for a name that the source does not define */
function unsetSecrets({ credentials = {} }: SourceCredentials, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const credential = Object.hasOwn(credentials, name) ? credentials[name] : undefined;
    if (!credential) throw new Error(`The source has no credentials ${JSON.stringify(name)}.`);
    return secretsInCredentials(credential)
      .filter((secret) => secret.reveal() === null)
      .map((secret) => secret.name);
  });
}

/** `A_TOKEN, or A_USER and A_PASSWORD` */
function describeUnsetSecrets(source: SourceCredentials, auth: Alternatives): string {
  return auth.map((names) => unsetSecrets(source, names).join(' and ')).join(', or ');
}

/** The values that are not secret: a request that names its credentials sends no others of the source. */
function withoutSecrets(values: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => !(value instanceof Secret)));
}

/** Several cookies are one header (RFC 6265 §5.4). */
function withOneCookie(headers: SentCredentials['headers']): SentCredentials['headers'] {
  const cookies = headers.filter(([name]) => name.toLowerCase() === 'cookie').map(([, text]) => text);
  const otherHeaders = headers.filter(([name]) => name.toLowerCase() !== 'cookie');
  if (cookies.length === 0) return otherHeaders;
  return [...otherHeaders, ['cookie', cookies.join('; ')]];
}
