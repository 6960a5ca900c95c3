import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { isObject } from 'market-mcp-contract/json';
import { type Access, isSame, linkOf, pageUrlOf } from '../core/page-access.ts';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/**
 * Accepts only requests to this server: the Host must be exactly the host of the pages, or 127.0.0.1 or localhost with this port (no
 * DNS rebinding), a foreign Origin is refused, and no answer contains CORS headers.
 */
export function onlyFromHere(access: Access): MiddlewareHandler {
  const { url } = access;
  const hosts = [pageUrlOf(access), url, url.replace('127.0.0.1', 'localhost')].map((at) => new URL(at).host);
  return async (c, next) => {
    const host = c.req.header('host') ?? '';
    const refuse = (error: { code: string; message: string }) => c.json({ error }, 403);
    if (!hosts.includes(host)) {
      const message = `the host ${host} is not this marketplace: open the link that it printed; a program uses ${url}`;
      return refuse({ code: 'FOREIGN_HOST', message });
    }
    const { origin, 'sec-fetch-site': site } = c.req.header();
    const isForeign =
      (origin !== undefined && origin !== `http://${host}`) ||
      (c.req.method !== 'GET' && site === 'cross-site');
    if (isForeign) {
      return refuse({ code: 'FOREIGN_ORIGIN', message: 'requests from other websites are refused' });
    }
    await next();
    for (const [header, value] of Object.entries(headers)) c.res.headers.set(header, value);
  };
}

const opensHome =
  '<!doctype html><title>Local marketplace</title><meta http-equiv="refresh" content="0; url=/">';

/** Thrown for a request without the secret, or with it in a place where it does not count. */
export class NotAdmitted extends Error {
  /** The link of the pages, for a browser that has opened the link of programs. */
  readonly link: string | undefined;
  /** Whether the request came to the host of the pages. */
  readonly isOfPages: boolean;

  constructor(isOfPages: boolean, link?: string) {
    super();
    this.isOfPages = isOfPages;
    this.link = link;
  }
}

const cookie = 'market-mcp';

/**
 * Accepts only requests with the secret, from a program in `Authorization: Bearer`, from a browser in a cookie of the host of the
 * pages. The link with the secret sets the cookie and leads to the home page without it.
 */
export function onlyWithSecret(access: Access): MiddlewareHandler {
  const { secret } = access;
  const { host } = new URL(pageUrlOf(access));
  return async (c, next) => {
    const isOfPages = c.req.header('host') === host;
    if (c.req.path === '/' && isSame(c.req.query('secret'), secret)) {
      if (!isOfPages) throw new NotAdmitted(isOfPages, linkOf(access));
      setCookie(c, cookie, secret, { path: '/', httpOnly: true, sameSite: 'Strict' });
      // After a link on another website, a redirect would not carry a Strict cookie. What a page of this site opens does.
      if (c.req.header('sec-fetch-site') === 'cross-site') return c.html(opensHome);
      return c.redirect('/', 303);
    }
    const cookieToken = isOfPages ? getCookie(c, cookie) : undefined;
    const [, sentToken = cookieToken] = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '') ?? [];
    if (!isSame(sentToken, secret)) throw new NotAdmitted(isOfPages);
    return next();
  };
}

/** The body of a POST: the fields of a form, or the members of a JSON object. A repeated field is a list. */
export type FormInput = { readonly [name: string]: unknown };

/** Thrown if a POST is refused. */
export class Refused extends Error {}

/**
 * Reads a POST. A form must name its origin, as every browser does: `onlyFromHere` accepts no other. JSON need not: another
 * site could send it only after a preflight, which is never answered.
 *
 * @throws Refused
 */
export async function readForm(c: Context): Promise<FormInput> {
  const type = c.req.header('content-type') ?? '';
  if (/^application\/json\b/.test(type)) {
    const body: unknown = await c.req.json().catch(() => undefined);
    if (isObject(body)) return body;
    throw new Refused('Expected a JSON object.');
  }
  if (!/^application\/x-www-form-urlencoded\b/.test(type)) throw new Refused('Expected a form or JSON.');
  if (c.req.header('origin') === undefined) throw new Refused('A form must name its origin. Send JSON.');
  const fields = new URLSearchParams(await c.req.text());
  const entries = [...new Set(fields.keys())].map((name) => [name, fields.getAll(name)] as const);
  return Object.fromEntries(entries.map(([name, values]) => [name, values.length > 1 ? values : values[0]]));
}
