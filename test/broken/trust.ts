import { context } from '../../packages/contract/src/platforms/all.ts';
import { createSigner } from '../../packages/contract/src/wire/signer.ts';
import { createSteps, type RunningServer, serve, type Trust } from './good-server.ts';
import type { Variant } from './variant.ts';

const audience = 'https://tools.example.com/mcp';
export const signer = await createSigner(context.token, audience);

/** The trust of every server under test. */
export const trust: Trust = { publicKey: signer.publicKey, issuer: signer.issuer, audience };

/** The good server, changed, while `use` runs. */
export async function serving<T>(variant: Variant, use: (url: string) => Promise<T>): Promise<T> {
  const server: RunningServer = await serve(createSteps(trust, variant), 0, variant.attach);
  try {
    return await use(server.url);
  } finally {
    await server.stop();
  }
}
