import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { createSigner } from '../../packages/contract/src/wire/signer.ts';
import { selfCheck } from '../../src/check/self-check.ts';
import { Marketplace } from '../../src/marketplace/core/marketplace.ts';
import type { ListingForm, MarketplaceOptions } from '../../src/marketplace/core/marketplace-model.ts';
import { type Serving, serveMarketplace } from '../../src/marketplace/web/serve.tsx';
import { type Breaks, createSteps, serve } from '../broken/good-server.ts';
import { directory } from '../project/directory.ts';

export { directory };

export const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
export const issuer = 'urn:local-platform';

/** A marketplace on a real directory, removed when the test ends. */
export async function openMarketplace(options: Partial<MarketplaceOptions> = {}): Promise<Marketplace> {
  const place = options.directory ?? directory();
  return Marketplace.open({
    profile: context,
    privateKey,
    issuer,
    ...options,
    directory: place,
  });
}

/** A marketplace at a free port, until the test ends. */
export async function serveHere(marketplace?: Marketplace): Promise<Serving> {
  const serving = await serveMarketplace(marketplace ?? (await openMarketplace()), 0);
  onTestFinished(() => serving.close());
  return serving;
}

/** The good server with changes, trusting the marketplace's key. @returns its endpoint. */
export async function startServer(breaks: Breaks = {}): Promise<string> {
  const trust = { publicKey, issuer, audience: '' };
  const server = await serve(createSteps(trust, breaks));
  trust.audience = server.url;
  onTestFinished(() => server.stop());
  return server.url;
}

/** A list of quoted questions. */
export function questions(count: number): string {
  return Array.from({ length: count }, (_, index) => `- "What is coin ${index}?"`).join('\n');
}

/** A form that the marketplace accepts without advice. */
export function formFor(endpoint: string, more: Partial<ListingForm> = {}): ListingForm {
  return {
    name: 'Coin prices',
    description: `Prices of coins.\nFeatures:\n- prices\nTry asking:\n${questions(7)}\nAgent tips:\n- use tickers`,
    category: 'Crypto & DeFi',
    price: '0.01',
    endpoint,
    ...more,
  };
}

/** The option of a marketplace that runs the contract on a server. */
export const checking = (endpoint: string): Pick<MarketplaceOptions, 'check'> => ({
  check: async (onRule) => {
    const signer = await createSigner(context.token, endpoint, { issuer, privateKey });
    const target = { url: endpoint, profile: context, signer, callPolicy: { named: [] } };
    return selfCheck(Promise.resolve({ target, release: async () => {} }), onRule);
  },
});
