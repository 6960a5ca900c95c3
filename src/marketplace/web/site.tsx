import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Child } from 'hono/jsx';
import { Hono } from 'hono/tiny';
import { CommandError, hasUrlSecret, maskJson, urlMasker } from 'market-mcp-contract/command';
import type { JsonObject } from 'market-mcp-contract/json';
import type { PackageManagerCommands } from '../../plan/package-manager-commands.ts';
import { packageManagerOf } from '../../system/detect.ts';
import { script, style } from '../assets.ts';
import { Checks } from '../core/checks.ts';
import type { Marketplace } from '../core/marketplace.ts';
import { type Access, proofHeader, proofOf, proofPath } from '../core/page-access.ts';
import { icon, Layout, NotAdmittedPage } from './layout.tsx';
import { Notice } from './parts.tsx';
import { type FormInput, NotAdmitted, onlyFromHere, onlyWithSecret, Refused, readForm } from './security.ts';

/** The result of a POST: data for a program; for a person, a redirect or a page, which is made only then. */
export type Done = { readonly data: unknown; readonly status?: 200 | 422 } & (
  | { readonly to: string }
  | { readonly title: string; readonly view: () => Child | Promise<Child> }
);

function notAdmitted({ run, market }: PackageManagerCommands) {
  return {
    code: 'NOT_ADMITTED',
    message: 'the request does not carry the secret of this marketplace',
    hint: `Open the link that ${run} dev or ${market} marketplace printed; ${market} marketplace prints it again in the same directory. A program sends the secret as Authorization: Bearer <secret>.`,
  };
}

/** Maximum size of a POST in bytes. */
const maximumInput = 2 * 1024 * 1024;

/** The web application of a marketplace: pages, each also as JSON, and their forms. */
export class Site {
  readonly app = new Hono();
  readonly marketplace: Marketplace;
  readonly checks: Checks;
  /** The id of each tool's last call from Try it in the traffic, by the tool's name. */
  readonly lastCalls = new Map<string, number>();
  readonly #mask: (text: string) => string;

  constructor(marketplace: Marketplace, access: Access) {
    this.marketplace = marketplace;
    this.#mask = urlMasker([marketplace.options.endpoint ?? '']);
    this.checks = new Checks(marketplace);
    this.app.use(onlyFromHere(access));
    openRoutes(this.app, marketplace.keySet, access);
    this.app.use(onlyWithSecret(access));
    this.app.use(
      bodyLimit({
        maxSize: maximumInput,
        onError: (c) => this.#problem(c, 'TOO_LARGE', 'A form or a body takes at most 2 MiB', '', 413),
      }),
    );
    this.app.notFound((c) =>
      this.#problem(c, 'NOT_FOUND', `There is no page ${c.req.path}`, 'Start at the home page: /', 404),
    );
    this.app.onError((error, c) => {
      if (error instanceof CommandError) return this.#problem(c, error.code, error.message, error.hint, 409);
      if (error instanceof NotAdmitted) {
        c.header('www-authenticate', 'Bearer realm="market-mcp"');
        const isBrowser = c.req.header('accept')?.includes('text/html') && !wantsJson(c);
        const commands = packageManagerOf(marketplace.options.directory);
        if (!isBrowser) return c.json({ error: notAdmitted(commands) }, 401);
        const { isOfPages, link } = error;
        const location = { isOfPages, link, port: new URL(access.url).port };
        const page = <NotAdmittedPage {...commands} {...location} />;
        return c.html(`<!doctype html>${String(page)}`, 401);
      }
      if (error instanceof Refused) return this.#problem(c, 'REFUSED', error.message, '', 403);
      return this.#problem(c, 'UNEXPECTED', error.message, 'Please report this.', 500);
    });
  }

  /** Data of a page without the secrets of the endpoint's URL. */
  #withoutSecrets(data: unknown): object {
    const { endpoint = '' } = this.marketplace.options;
    if (hasUrlSecret(endpoint)) return maskJson(data as object, this.#mask);
    return data as object;
  }

  /** Adds a page at `path`, and its data as JSON at `path.json`. */
  page<Data>(
    path: string,
    title: string,
    load: (c: Context) => Data | Promise<Data>,
    Page: (props: { data: Data }) => Child,
  ): void {
    const handle = async (c: Context) => {
      const data = await load(c);
      if (wantsJson(c)) return c.json(this.#withoutSecrets(data));
      return this.#html(c, title, <Page data={data} />);
    };
    this.app.get(path, handle);
    if (!path.includes(':')) this.app.get(jsonPathOf(path), handle);
  }

  /** Adds the action of a form at `path`, and the same for a JSON body at `path.json`. */
  post(path: string, act: (input: FormInput, c: Context) => Promise<Done>): void {
    const handle = async (c: Context) => {
      const result = await act(await readForm(c), c);
      const { status = 200, data } = result;
      if (wantsJson(c)) return c.json(this.#withoutSecrets(data), status);
      if ('to' in result) return c.redirect(result.to, 303);
      return this.#html(c, result.title, await result.view(), status);
    };
    this.app.post(path, handle);
    this.app.post(`${path}.json`, handle);
  }

  async #html(c: Context, title: string, view: Child, status: 200 | 403 | 404 | 409 | 413 | 422 | 500 = 200) {
    const state = await this.marketplace.state();
    const frame = { path: c.req.path, profile: this.marketplace.profile.title, state };
    const page = (
      <Layout frame={frame} title={title}>
        {view}
      </Layout>
    );
    return c.html(`<!doctype html>${this.#mask(String(page))}`, status);
  }

  #problem(c: Context, code: string, message: string, hint: string, status: 403 | 404 | 409 | 413 | 500) {
    if (wantsJson(c)) return c.json(this.#withoutSecrets({ error: { code, message, hint } }), status);
    return this.#html(
      c,
      'The request failed',
      <Notice mark="fail" title={message} lines={hint === '' ? [] : [hint]} />,
      status,
    );
  }
}

/**
 * The only routes that need no secret: the key set, which servers read; the proof, by which a program recognizes this marketplace;
 * and the style, script and icon of the pages, which are in the published package.
 */
function openRoutes(app: Hono, keySet: JsonObject, access: Access): void {
  app.get('/.well-known/jwks.json', (c) => c.json(keySet));
  app.get(proofPath, (c) => {
    const proof = proofOf(access, c.req.query('nonce') ?? '');
    return c.body(null, 204, { [proofHeader]: proof });
  });
  const assets = [
    ['style.css', 'text/css; charset=utf-8', style],
    ['client.js', 'text/javascript; charset=utf-8', script],
    ['icon.svg', 'image/svg+xml', icon],
  ] as const;
  for (const [name, type, text] of assets) {
    app.get(`/assets/${name}`, (c) => c.body(text, 200, { 'content-type': type }));
  }
}

/** The URL of a page's JSON form. */
export function jsonPathOf(path: string): string {
  return path === '/' ? '/index.json' : `${path}.json`;
}

/** Whether the client is a program. */
export function wantsJson(c: Context): boolean {
  return c.req.path.endsWith('.json') || c.req.header('accept') === 'application/json';
}
