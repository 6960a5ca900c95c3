import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { isLoopback } from '../core/form.ts';

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

/**
 * Accepts only requests from this machine to this server: the Host must be a name of this
 * machine (no DNS rebinding), a foreign Origin is refused, and no answer contains CORS headers.
 */
export const onlyFromHere: MiddlewareHandler = async (c, next) => {
  const host = c.req.header('host') ?? '';
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
  if (!isLoopback(name))
    return c.json(
      {
        error: {
          code: 'FOREIGN_HOST',
          message: `the host ${host} is not this machine: open the page as http://127.0.0.1 or http://localhost`,
        },
      },
      403,
    );
  const origin = c.req.header('origin');
  const site = c.req.header('sec-fetch-site');
  const isForeign =
    (origin !== undefined && origin !== `http://${host}`) ||
    (c.req.method !== 'GET' && site === 'cross-site');
  if (isForeign)
    return c.json(
      { error: { code: 'FOREIGN_ORIGIN', message: 'requests from other websites are refused' } },
      403,
    );
  await next();
  const headers = {
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  };
  for (const [header, value] of Object.entries(headers)) c.res.headers.set(header, value);
};

/** The CSRF token in every form of this process. */
export interface FormToken {
  readonly value: string;
  matches(given: unknown): boolean;
}

export function createFormToken(): FormToken {
  const bytes = randomBytes(32);
  const value = bytes.toString('base64url');
  return {
    value,
    matches(given) {
      const other = Buffer.from(typeof given === 'string' ? given : '', 'base64url');
      return other.length === bytes.length && timingSafeEqual(other, bytes);
    },
  };
}

/** The body of a POST: the fields of a form, or the members of a JSON object. A repeated field is a list. */
export type Input = { readonly [name: string]: unknown };

/** Thrown if a POST is refused. */
export class Refused extends Error {}

/**
 * Reads a POST. A form must carry the form token. JSON needs none: another site could send it only after a preflight,
 * which is never answered.
 *
 * @throws Refused
 */
export async function readInput(c: Context, token: FormToken): Promise<Input> {
  const type = c.req.header('content-type') ?? '';
  if (/^application\/json\b/.test(type)) {
    const body: unknown = await c.req.json().catch(() => undefined);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Input;
    throw new Refused('Expected a JSON object.');
  }
  if (!/^application\/x-www-form-urlencoded\b/.test(type)) throw new Refused('Expected a form or JSON.');
  const fields = new URLSearchParams(await c.req.text());
  if (!token.matches(fields.get('csrf'))) {
    throw new Refused('The form is older than this process. Go back, reload the page, and send it again.');
  }
  const names = [...new Set(fields.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const all = fields.getAll(name);
      return [name, all.length > 1 ? all : all[0]];
    }),
  );
}
