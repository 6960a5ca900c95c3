import { beforeEach, expect, it, vi } from 'vitest';
import * as contract from '../../packages/contract/src/wire/address.ts';
import { startErrors, startWarnings } from '../../packages/runtime/src/process.ts';
import { clientCredentials } from '../../packages/runtime/src/source/access-token.ts';
import { httpSource } from '../../packages/runtime/src/source/http-source.ts';
import { mcpSource } from '../../packages/runtime/src/source/mcp-source.ts';
import * as kit from '../../packages/runtime/src/source/source-address.ts';
import { errorOf, source } from './source-server.ts';

const places: readonly (readonly [contract.AddressScope, ...string[]])[] = [
  [
    'loopback',
    'localhost',
    'LOCALHOST.',
    'api.localhost',
    '127.0.0.1',
    '127.8.9.10',
    '2130706433',
    '0x7f.1',
    '0177.1',
  ],
  [
    'loopback',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::127.0.0.1]',
  ],
  [
    'link-local',
    '169.254.169.254',
    '169.254.1.1',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.43518',
  ],
  [
    'link-local',
    '[fe80::1]',
    '[FEBF::1]',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[::169.254.169.254]',
  ],
  ['link-local', '[fd00:ec2::254]', '[fd00:0ec2:0::0254]', 'metadata.google.internal', '100.100.100.200'],
  ['link-local', '１６９.254.169.254', '169.254.169.254.', '169%2e254.169.254'],
  [
    'elsewhere',
    'api.example.com',
    'localhost.example.com',
    'notlocalhost',
    '10.0.0.1',
    '168.254.0.1',
    '[fec0::1]',
  ],
  ['elsewhere', '[2001:db8::1]', '[::ffff:8.8.8.8]', '169.254.169.254.example.com'],
];
const hosts = places.flatMap(([reach, ...names]) => names.map((name) => [name, reach] as const));

beforeEach(() => {
  const clear = () => {
    startErrors.length = 0;
    startWarnings.length = 0;
    vi.unstubAllEnvs();
  };
  clear();
  return clear;
});

it.each(hosts)('%s is %s, for the import and for the server', (host, reach) => {
  const url = new URL(`http://${host}/v1`);
  expect([contract.addressScope(url), kit.reachOf(url)]).toEqual([reach, reach]);
});

const tokens = ({ baseUrl }: { readonly baseUrl: string }) =>
  void clientCredentials({ tokenUrl: baseUrl, id: 'a', secret: 'b' });

it.each([httpSource, mcpSource, tokens])(
  'in production, %o reports loopback and refuses link-local',
  (create) => {
    const metadata = 'http://[::ffff:a9fe:a9fe]/latest';
    create({ baseUrl: metadata });
    expect([startErrors, startWarnings]).toEqual([[], []]);

    vi.stubEnv('NODE_ENV', ' Production ');
    create({ baseUrl: 'https://api.example.com' });
    expect([startErrors, startWarnings]).toEqual([[], []]);
    create({ baseUrl: 'http://localhost:8080/v1' });
    expect([startErrors, startWarnings]).toEqual([[], [expect.stringContaining('http://localhost:8080')]]);
    create({ baseUrl: metadata });
    expect(startErrors).toEqual([
      expect.stringMatching(/a9fe:a9fe\].* link-local.* SOURCES_LINK_LOCAL=allow/),
    ]);

    vi.stubEnv('SOURCES_LINK_LOCAL', 'allow');
    create({ baseUrl: metadata });
    expect(startErrors).toHaveLength(1);
  },
);

it.each(['http://169.254.169.254/latest/meta-data', 'http://[fe80::1]/', '//metadata.google.internal/'])(
  'a redirect to %s is not followed',
  async (location) => {
    const { api, received } = await source((_, response) => response.writeHead(302, { location }).end());
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_MISCONFIGURED');
    expect(received).toHaveLength(1);
  },
);
