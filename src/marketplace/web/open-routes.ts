import type { Hono } from 'hono';
import type { JsonObject } from '../../contract/model.ts';
import { script, style } from '../assets.ts';
import { type Access, proofHeader, proofOf, proofPath } from '../core/access.ts';
import { icon } from './layout.tsx';

/**
 * The only routes that need no secret: the key set, which servers read; the proof, by which a program recognizes this marketplace;
 * and the style, script and icon of the pages, which are in the published package.
 */
export function openRoutes(app: Hono, keySet: JsonObject, access: Access): void {
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
