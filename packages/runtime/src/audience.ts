// The audience of tokens: the public URL of the endpoint.

/** The public URL of the endpoint, and the variable that it comes from. */
export interface Audience {
  /** Null until it is known: no token can be valid then. */
  readonly url: string | null;
  readonly from: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A value of PLATFORM_AUDIENCE: the server starts before its public URL is known. */
const pending = 'pending';

/** How the variables of hosts name the domain that a host gives to a server. A domain of one's own is only in PLATFORM_AUDIENCE. */
export const hostDomains: { readonly [name: string]: (value: string) => string } = {
  RENDER_EXTERNAL_URL: (url) => url,
  FLY_APP_NAME: (app) => `https://${app}.fly.dev`,
  VERCEL_PROJECT_PRODUCTION_URL: (domain) => `https://${domain}`,
  RAILWAY_PUBLIC_DOMAIN: (domain) => `https://${domain}`,
};

/**
 * The audience of the tokens. In production, without PLATFORM_AUDIENCE or while it is `pending`, it is the domain that the host names in
 * a variable, never what a request names: a token for another server would then be valid.
 *
 * @param givenUrl PLATFORM_AUDIENCE
 * @throws Error if there is none in production, or if it is not a public URL of an endpoint
 */
export function audienceOf(
  givenUrl: string | null,
  port: number,
  production: boolean,
  env: Environment,
): Audience {
  const isPending = givenUrl === pending;
  if (givenUrl !== null && !isPending)
    return { url: parseAudience(givenUrl, production), from: 'PLATFORM_AUDIENCE' };
  if (!production) return { url: `http://localhost:${port}/mcp`, from: 'PORT' };
  for (const [from, urlOf] of Object.entries(hostDomains)) {
    const value = env[from]?.trim();
    if (!value) continue;
    const text = urlOf(value);
    const { origin, href, protocol } = new URL(URL.canParse(text) ? text : 'data:');
    // A user name or a path would be in no token.
    if (protocol === 'https:' && href === `${origin}/`) return { url: `${origin}/mcp`, from };
    throw new Error(`must be set: ${from} is ${JSON.stringify(value)}, which is no domain.`);
  }
  if (isPending) return { url: null, from: 'PLATFORM_AUDIENCE' };
  throw new Error(
    'must be set in production: the public URL of the endpoint, exactly as registered. To start before you know it: pending.',
  );
}

function parseAudience(text: string, production: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && !production);
  if (secure && url?.pathname.endsWith('/mcp') && text.endsWith('/mcp')) return text;
  throw new Error(`expected an https URL whose path ends in /mcp, got ${JSON.stringify(text)}.`);
}
