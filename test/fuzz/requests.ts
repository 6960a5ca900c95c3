import type { Signer } from '../../packages/contract/src/wire/signer.ts';
import { pick, type Random } from '../random.ts';
import { modernRequest } from '../runtime/modern.ts';

/** Parts of requests. */
export interface Material {
  /** Values of the token header; null for no header. */
  readonly tokens: readonly (string | null)[];
  readonly session: string;
  /** The argument by which the tool counts its runs. */
  readonly note: string;
  /** The part of the messages that is not disguised. */
  readonly plain: number;
}

/** Tokens that resemble valid ones. */
export async function forgeries(signer: Signer): Promise<readonly (string | null)[]> {
  const second = Math.floor(Date.now() / 1000);
  const valid = await signer.token();
  const [head, claims, signature = ''] = valid.split('.');
  const forged = await Promise.all([
    signer.token({ by: 'untrusted' }),
    signer.token({ by: 'embedded' }),
    signer.token({ by: 'nobody' }),
    signer.token({ by: 'public-key' }),
    signer.token({ by: 'other-algorithm' }),
    signer.token({ claims: { exp: second - 3_600 } }),
    signer.token({ claims: { exp: undefined } }),
    signer.token({ claims: { aud: 'https://other.example/mcp' } }),
    signer.token({ claims: { iss: 'https://other.example' } }),
  ]);
  const bent = [
    `${head}.${claims}.${signature.slice(0, -8)}AAAAAAAA`,
    `${head}.${claims}.`,
    `${head}..${signature}`,
    `${head}.${Buffer.from('{"exp":9999999999}').toString('base64url')}.${signature}`,
  ];
  const schemes = [...forged, ...bent].map((token) => `Bearer ${token}`);
  return [
    null,
    '',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    `bearer${forged[0]}`,
    `Basic ${valid}`,
    'Bearer a.b.c',
    ...schemes,
  ];
}

const methods = [
  'tools/call',
  'tools/call',
  'tools/call',
  'tools/list',
  'ping',
  'initialize',
  'server/discover',
  'x',
];

/** A request as bytes: often a call in disguise, often damaged. */
export function strangeRequest(random: Random, { tokens, session, note, plain }: Material): Buffer {
  const chance = (part: number) => random() < part;
  const method = pick(random, methods);
  const params = {
    name: pick(random, ['count', 'count', 'no_such_tool']),
    arguments: argumentsOf(random, note),
  };
  const modern = modernRequest(method, params);
  const message = chance(0.3) ? modern.body : { jsonrpc: '2.0', id: 1, method, params };
  const text = JSON.stringify(message);
  const body = chance(plain) ? text : disguised(random, text);
  const headers: [string, string | null][] = [
    ['Host', 'localhost'],
    [
      'Content-Type',
      chance(0.9)
        ? 'application/json'
        : pick(random, ['application/json;charset=utf-16', 'text/plain', null]),
    ],
    ['Authorization', pick(random, tokens)],
    ['Mcp-Session-Id', pick(random, [session, session, session, null, `${session}x`])],
    ...(chance(0.3) ? Object.entries(modern.headers) : []),
    ...(chance(0.1) ? [['Authorization', pick(random, tokens)] as [string, string | null]] : []),
    ...(chance(0.05) ? [['Content-Encoding', 'gzip'] as [string, string]] : []),
    ...(chance(0.05)
      ? [['Origin', pick(random, ['https://evil.example', 'null', 'http://localhost'])] as [string, string]]
      : []),
    ...(chance(0.05) ? [['X-HTTP-Method-Override', 'POST'] as [string, string]] : []),
  ];
  const chunked = chance(0.15);
  const length = String(Buffer.byteLength(body) + (chance(0.03) ? pick(random, [-1, 1, 7]) : 0));
  headers.push(chunked ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', length]);
  const verb = chance(0.85) ? 'POST' : pick(random, ['GET', 'DELETE', 'OPTIONS', 'PUT', 'BREW']);
  const paths = ['/mcp?x=1', '//mcp', '/mcp/', '/MCP', '/%6dcp', 'http://x/mcp', '/health', '*'];
  const path = chance(0.9) ? '/mcp' : pick(random, paths);
  const lines = headers.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
  const sent = chunked ? chunks(random, body) : body;
  const bytes = Buffer.from(`${verb} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${sent}`);
  return chance(0.2) ? damaged(random, bytes) : bytes;
}

/** Arguments of a call: mostly valid ones, otherwise of any type and size. */
function argumentsOf(random: Random, note: string): unknown {
  if (random() < 0.6) return { note };
  const values: readonly (() => unknown)[] = [
    () => null,
    () => -0,
    () => 1e308,
    () => true,
    () => '\u202e\u0000\ud800 é',
    () => note.repeat(Math.floor(random() * 10_000)),
    () => Array.from({ length: Math.floor(random() * 5_000) }, () => ({})),
    () => Array.from({ length: Math.floor(random() * 400) }).reduce((inner) => [inner], []),
    () => ({ __proto__: null, constructor: { prototype: {} }, toString: 1 }),
  ];
  const value = () => pick(random, values)();
  return pick(random, [value, () => ({ note: value() }), () => ({ note, more: value(), [note]: value() })])();
}

/** A message that some parsers read differently. */
function disguised(random: Random, text: string): string {
  const ping = '"method":"ping"';
  const forms: readonly (() => string)[] = [
    () => text,
    () => text,
    () => text.replace('tools/call', 'tools\\u002fcall'),
    () => text.replace('"method"', '"\\u006dethod"'),
    () => text.replace('{', `{${ping},`),
    () => `${text.slice(0, -1)},${ping}}`,
    () => `[${text}]`,
    () => `[[${text}],[]]`,
    () => `\ufeff${text}`,
    () => ` \n\t${text}\n`,
    () => `${text}${text}`,
    () => `${'['.repeat(501)}${text}${']'.repeat(501)}`,
    () => `${'{"a":'.repeat(600)}${text}${'}'.repeat(600)}`,
    () => text.replace('"id":1', pick(random, ['"id":null', '"id":1e400', '"id":{}', '"id":"\\ud800"'])),
    () => text.replace('"params":{', '"params":{"__proto__":{"admin":true},'),
    () =>
      text.replace(
        'tools/call',
        pick(random, ['tools/call ', 'Tools/Call', 'tools/call\\u0000', 'toolsⁿ/call']),
      ),
    () => text.slice(0, Math.floor(random() * text.length)),
    () => '',
  ];
  return pick(random, forms)();
}

function chunks(random: Random, body: string): string {
  const bytes = Buffer.from(body);
  const at = Math.floor(random() * bytes.length);
  const parts = [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0);
  const extension = pick(random, ['', '', ';a=b', ' ']);
  const texts = parts.map((part) => `${part.length.toString(16)}${extension}\r\n${part.toString()}\r\n`);
  return `${texts.join('')}0\r\n\r\n`;
}

/** Bytes with some changed, removed, duplicated or added. */
function damaged(random: Random, bytes: Buffer): Buffer {
  let result = bytes;
  for (let times = 1 + Math.floor(random() * 3); times > 0; times--) {
    const at = Math.floor(random() * result.length);
    const length = Math.floor(random() * 12);
    const [before, piece, after] = [
      result.subarray(0, at),
      result.subarray(at, at + length),
      result.subarray(at + length),
    ];
    const noise = Buffer.from(Array.from({ length: 1 + length }, () => Math.floor(random() * 256)));
    result = Buffer.concat(
      pick(random, [
        [before, noise, after],
        [before, after],
        [before, piece, piece, after],
        [before, noise, piece, after],
      ]),
    );
  }
  return result;
}
