import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { posixLine, shellLine } from '../../packages/contract/src/command/shell.ts';
import {
  hasUrlSecret,
  isRandom,
  maskUrl,
  urlMasker,
} from '../../packages/contract/src/command/url-secrets.ts';

const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';
const uuid = '3f1c8a52-7d0e-4b69-9c35-e2a7b1d4f608';

describe('the secrets of a URL are masked:', () => {
  it.each([
    [
      'a query member with the name of a key',
      'https://h.example/mcp?a=1&exaApiKey=k1&b=2',
      '?a=1&exaApiKey=$URL_KEY&b=2',
    ],
    ['a short name of a key', 'https://h.example/mcp?key=k1', '?key=$URL_KEY'],
    ['an encoded name of a key', 'https://h.example/mcp?api%5Fkey=k1', '?api%5Fkey=$URL_KEY'],
    ['a member with a JWT', `https://h.example/mcp?t=${jwt}`, '?t=$URL_KEY'],
    ['a member of the fragment', 'https://h.example/mcp#access_token=k1', '#access_token=$URL_KEY'],
    [
      'the signature of a signed URL',
      'https://h.example/mcp?X-Amz-Signature=k1',
      '?X-Amz-Signature=$URL_KEY',
    ],
    [
      'several secrets, and equal ones',
      'https://h.example/mcp?key=k1&token=k2&auth=k1',
      '?key=$URL_KEY&token=$URL_KEY2&auth=$URL_KEY',
    ],
    ['a UUID in the path', `https://h.example/${uuid}/mcp`, '/$URL_KEY/mcp'],
    ['a random path segment', 'https://h.example/s/NDI4YmQ0NzgtM2Y4Zi00YjQ3/mcp', '/s/$URL_KEY/mcp'],
    ['a JWT in the path', `https://h.example/${jwt}/mcp`, '/$URL_KEY/mcp'],
    ['user and password', 'https://user:k1@h.example/mcp', '//$URL_KEY@'],
    ['a user', 'https://k1@h.example/mcp', '//$URL_KEY@'],
    ['a URL with another scheme', 'htps://user:k1@h.example/mcp', '//$URL_KEY@'],
    ['user and password without a scheme', 'user:k1@h.example/mcp', '$URL_KEY@h.example/mcp'],
    ['a URL without a scheme', 'h.example/mcp?key=k1', '?key=$URL_KEY'],
    ['a URL of this machine without a scheme', 'localhost:3000/mcp?key=k1', '?key=$URL_KEY'],
  ])('%s', (_, url, masked) => {
    expect(maskUrl(url)).toContain(masked);
    expect(maskUrl(url)).not.toMatch(/k1|k2|3f1c8a52|eyJ|NDI4/);
    expect(maskUrl(maskUrl(url))).toBe(maskUrl(url));
  });

  it.each([
    'https://h.example/mcp',
    'https://h.example/mcp?pageToken=abc&sortKey=name&profile=fast',
    'https://h.example/mcp?key=',
    'https://h.example/a/path-of-many-words/mcp',
    'get_price',
    './data/3f1c8a52-7d0e-4b69-9c35-e2a7b1d4f608/spec.json',
    '/tmp/a1b2c3d4e5f6a7b8c9d0/spec.json',
    'curl https://h.example/mcp?api_key=k1',
    '{"id":3,"text":"h:80/mcp?key=k1"}',
    String.raw`C:\data\a1b2c3d4e5f6a7b8c9d0`,
  ])('nothing in %s', (text) => {
    expect(maskUrl(text)).toBe(text);
    expect(hasUrlSecret(text)).toBe(false);
  });
});

describe('a path segment', () => {
  it.each([
    uuid,
    '11111111-1111-4111-8111-111111111111',
    '9f86d081884c7d659a2f',
    'sk_live_51HqLyjWDarjtT1zdp7dc',
    'NDI4YmQ0NzgtM2Y4Zi00YjQ3',
    'qWxErTyUiOpAsDfGhJkL',
    'my-workspace-a1B2c3D4e5F6g7H8',
    '01234567890123456789',
    'k3x9q2m7v1b8n4c6z5l0',
  ])('is random: %s', (segment) => expect(isRandom(segment)).toBe(true));

  it.each([
    'internationalization',
    'model-context-protocol-server',
    'getWeatherForecastForEveryCity',
    'gpt-4o-mini-realtime-preview-2024-12-17',
    'llama-3.1-405b-instruct-turbo-fp8',
    '2024-01-15T10-30-00Z-release-notes',
    'COMPANY_WIDE_TOOLS_2026',
    'a1b2c3d4e5f6a7b8c9d',
    '天気予報の情報を提供するサーバーの名前です',
  ])('is not random: %s', (segment) => expect(isRandom(segment)).toBe(false));
});

describe('a printed command', () => {
  const url = `https://h.example/it's/${uuid}/mcp?key=k1&b=$HOME`;

  it('has variables in place of the secrets of a URL, and the shell fills them in', () => {
    const line = posixLine(['printf', '%s', url]);
    expect(line).not.toMatch(/3f1c8a52|k1/);
    const env = { URL_KEY: uuid, URL_KEY2: 'k1', HOME: '/root' };
    expect(execFileSync('sh', ['-c', line], { env, encoding: 'utf8' })).toBe(url);
  });

  it('has them on Windows, too', () => {
    const line = shellLine(['check', `https://h.example/${uuid}/mcp`], 'win32');
    expect(line).toBe('check https://h.example/"$URL_KEY"/mcp  # for Git Bash');
  });
});

describe('a text that repeats the secrets of a URL', () => {
  const key = 'sk/live+9aF3=';
  const url = `https://h.example/mcp?api_key=${encodeURIComponent(key)}&t=k1`;
  const mask = urlMasker(['other', url]);

  it.each([
    ['the URL', url, 'https://h.example/mcp?api_key=$URL_KEY&t=k1'],
    ['the key', `no ${key}!`, 'no $URL_KEY!'],
    ['the encoded key', `/x?api_key=${encodeURIComponent(key)}`, '/x?api_key=$URL_KEY'],
    ['nothing', 'key', 'key'],
  ])('is masked: %s', (_, text, masked) => expect(mask(text)).toBe(masked));

  it('keeps a word that is a short secret, except behind the name of its member', () => {
    const short = urlMasker(['https://h.example/mcp?key=fast']);
    expect(short('fast: /mcp?key=fast')).toBe('fast: /mcp?key=$URL_KEY');
  });
});
