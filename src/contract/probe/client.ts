import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Target } from '../target.ts';
import { patienceMs } from './patience.ts';

export interface SdkSession {
  readonly client: Client;
  close(): Promise<void>;
}

/**
 * Connects the MCP SDK's client as a marketplace does. The SDK is loaded on first use: it is the largest import of
 * the contract, and the generator, which only inspects definitions, has no need of it.
 */
export async function connect(
  { url, headers, profile }: Target,
  token: (() => Promise<string>) | undefined,
  signal: AbortSignal | undefined,
): Promise<SdkSession> {
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ]);
  const authorized: typeof fetch = async (input, init) => {
    const all = new Headers(init?.headers);
    if (token) all.set(profile.token.header, `${profile.token.scheme} ${await token()}`);
    return fetch(input, { ...init, headers: all });
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: authorized,
    requestInit: { headers: { ...headers } },
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 1000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  const client = new Client({ name: 'marketplace-contract', version: '1.0.0' }, { capabilities: {} });
  await client.connect(transport, {
    timeout: profile.limits.initializeMs + patienceMs,
    ...(signal ? { signal } : {}),
  });
  return { client, close: () => client.close() };
}

/** The versions of MCP that the SDK supports (`2025-06-18`), newest first. */
export async function supportedVersions(): Promise<readonly string[]> {
  const { SUPPORTED_PROTOCOL_VERSIONS } = await import('@modelcontextprotocol/sdk/types.js');
  return SUPPORTED_PROTOCOL_VERSIONS;
}
