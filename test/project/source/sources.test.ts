import { describe, expect, it } from 'vitest';
import { context } from '../../../packages/contract/src/platforms/context.ts';
import { sourceFiles, withSourceDependencies } from '../../../src/project/source/sources.ts';
import { documentOf, toolOf } from '../../import/openapi.ts';

describe('the scopes of client credentials in an existing file', () => {
  const withClient = (
    options: string,
  ) => `import { clientCredentials, httpSource } from 'market-mcp-runtime/source';
import { env } from '../env.ts';
export const api = httpSource({
  baseUrl: env.GAS_URL,
  headers: { authorization: clientCredentials({ tokenUrl: env.GAS_TOKEN_URL, id: env.GAS_CLIENT_ID, secret: env.GAS_CLIENT_SECRET${options} }) },
});
`;
  const file = 'src/apis/gas.ts';
  const written = async (text: string) => {
    const oauth = { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://gas.example/t' } } };
    const rest = { components: { securitySchemes: { oauth } } };
    const { tool, call } = await toolOf(documentOf({ security: [{ oauth: ['gas:read'] }] }, rest));
    const names = ['GAS_URL', 'GAS_TOKEN_URL', 'GAS_CLIENT_ID', 'GAS_CLIENT_SECRET'];
    const own = new Map([
      [file, text],
      ['src/env.ts', names.join(' ')],
    ]);
    const files = sourceFiles([{ ...tool, call }], (path) => own.get(path), new Map(), context.smoke);
    return new TextDecoder().decode(files.get(file)?.content);
  };

  it('gain those of a new tool', async () => {
    expect(await written(withClient(', scope: "coins"'))).toBe(withClient(", scope: 'coins gas:read'"));
    expect(await written(withClient(", scope: 'gas:read'"))).toBe('');
  });

  it('are asked of the author where they are no literal', async () => {
    const hint = "Add scope: 'gas:read' to clientCredentials there, and run the command again.";
    await expect(written(withClient(''))).rejects.toMatchObject({ code: 'SOURCES_EDITED', hint });
  });
});

describe('the script record of a package.json', () => {
  it.each([
    [undefined, 'market-mcp record'],
    ['market-mcp record --call buy', 'market-mcp record --call buy'],
    ['node my-own.js', 'node my-own.js'],
  ])('%s becomes %s', (record, expected) => {
    const scripts = { build: 'tsc', ...(record !== undefined && { record }) };
    const next = JSON.parse(withSourceDependencies(JSON.stringify({ scripts, dependencies: {} })));
    expect(next.scripts).toEqual({ build: 'tsc', record: expected });
  });

  it('is added without a change of line ends and of the byte order mark', () => {
    const next = withSourceDependencies('\ufeff{\r\n  "scripts": {}\r\n}\r\n');
    expect(next).toMatch(/^\ufeff\{\r\n {2}"scripts": \{\r\n {4}"record": "market-mcp record"\r\n/);
    expect(next).not.toMatch(/[^\r]\n/);
  });
});
