import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { localKeyFor } from '../../src/cli/check/local-key.ts';
import type { CheckFlags } from '../../src/cli/command-flags.ts';
import { createSteps, serve } from '../broken/good-server.ts';
import { directory, fileSet } from '../project/directory.ts';

const none: CheckFlags = {
  call: [],
  only: [],
  skip: [],
  header: [],
  level: 'must',
  era: 'both',
  reporter: 'pretty',
  build: true,
};
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });

interface Setting {
  readonly flags?: Partial<CheckFlags>;
  readonly hasKey?: boolean;
  readonly isTrusted?: boolean;
  readonly version?: string;
  readonly host?: string;
}

/** Asks for the local key beside a project whose server runs. */
async function ask({ flags, hasKey = true, isTrusted = true, version = '1.2.3', host }: Setting = {}) {
  const root = directory();
  for (const [path, { content }] of fileSet({
    'package.json': JSON.stringify({ name: 'good-server', version }),
  }))
    writeFileSync(join(root, path), content);
  mkdirSync(join(root, '.local'));
  if (hasKey)
    writeFileSync(
      join(root, '.local/platform-key.pem'),
      keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    );
  const other = isTrusted ? keys : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const trust = {
    publicKey: other.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    issuer: 'urn:local-platform',
    audience: '',
  };
  const steps = createSteps(trust, {
    // The audience is the URL, which is known when the server listens.
    authorized: () => (header) => createSteps({ ...trust, audience: url }).authorized(header),
  });
  const server = await serve(steps);
  const url = server.url;
  try {
    const key = await localKeyFor(host ? url.replace('127.0.0.1', host) : url, { ...none, ...flags }, root);
    return { root, url, key };
  } finally {
    await server.stop();
  }
}

it('the key of the local platform signs for the server of the project, and that is printed', async () => {
  const { key, root } = await ask();
  expect(key?.flags).toEqual({
    signingKey: join(root, '.local/platform-key.pem'),
    issuer: 'urn:local-platform',
  });
  expect(key?.lines.join()).toContain('signed with .local/platform-key.pem');
});

it.each<[string, Setting]>([
  ['another version answers', { version: '9.9.9' }],
  ['the server trusts another key', { isTrusted: false }],
])('the key is not used if %s, and the command to use is printed', async (_, setting) => {
  const { key, url } = await ask(setting);
  expect(key?.flags).toEqual({});
  expect(key?.lines.join()).toContain(`check ${url} --signing-key`);
});

it.each<[string, Setting]>([
  ['a token is given', { flags: { token: 'a.b.c' } }],
  ['a key is given', { flags: { signingKey: 'key.pem' } }],
  ['the URL leads elsewhere', { host: 'tools.example.com' }],
  ['the project has no local key', { hasKey: false }],
])('nothing is said of the key if %s', async (_, setting) => {
  expect((await ask(setting)).key).toBeUndefined();
});
