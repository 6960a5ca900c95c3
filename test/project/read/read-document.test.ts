import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../../packages/contract/src/command/command-error.ts';
import { toolsOfDocument } from '../../../src/import/openapi/index.ts';
import { readOpenApi } from '../../../src/import/openapi/openapi-document.ts';
import { operationName, operationsOf } from '../../../src/import/openapi/operations.ts';
import { type HeaderPairs, readDocumentText } from '../../../src/project/read/read-document.ts';
import { listen } from '../../listen.ts';
import { directory as newDirectory } from '../directory.ts';

const head = 'openapi: 3.0.3\ninfo: {title: Gas}\nservers: [{url: https://api.gas.example}]\n';
const root = `${head}paths:
  /gas/{chain}: {$ref: 'paths/gas.yaml'}
  /inline:
    get:
      operationId: inline
      responses: {'200': {description: ok, content: {application/json: {schema: {$ref: 'schemas/gas.json#/$defs/Gas'}}}}}
components:
  securitySchemes: {$ref: 'more%20parts/keys.yaml#/schemes'}
  schemas: {Chain: {type: string, enum: [base, eth]}}
`;
/** References to a file above, to the first document, within the file, and to the whole of another one. */
const gasPath = `get:
  operationId: getGas
  security: [{token: []}]
  parameters: [{$ref: '#/parameters/chain'}]
  responses:
    '200': {description: ok, content: {application/json: {schema: {$ref: '../schemas/gas.json#/$defs/Gas'}}}}
parameters:
  chain: {name: chain, in: path, required: true, schema: {$ref: '../api.yaml#/components/schemas/Chain'}}
`;
const files = {
  'api.yaml': root,
  'paths/gas.yaml': gasPath,
  'schemas/gas.json': JSON.stringify({
    $defs: { Gas: { type: 'object', required: ['price'], properties: { price: { $ref: 'price.json' } } } },
  }),
  'schemas/price.json': JSON.stringify({
    type: 'object',
    properties: { more: { $ref: '#' }, wei: { type: 'integer' } },
  }),
  'more parts/keys.yaml': 'schemes: {token: {type: http, scheme: bearer}}\n',
};

function folder(content: { readonly [path: string]: string }): string {
  const directory = newDirectory();
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}

async function documentAt(place: string, headers: HeaderPairs = []) {
  const { text, url, beside } = await readDocumentText(place, headers);
  return { document: unwrap(await readOpenApi(text, place, beside)), url };
}

async function toolOf(place: string, operation: string, headers: HeaderPairs = []) {
  const { document, url } = await documentAt(place, headers);
  const tools = toolsOfDocument(document, { operations: [operation], tool: null }, place, url);
  if (!tools.ok) throw new Error(tools.errors.map(({ where, message }) => `${where}: ${message}`).join());
  return tools.value[0];
}

/** A server on loopback, and the requests that it got. */
async function serve(answer: RequestListener) {
  const got: Pick<IncomingMessage, 'url' | 'headers'>[] = [];
  const server = createServer((request, response) => {
    got.push({ url: request.url, headers: request.headers });
    answer(request, response);
  });
  const port = await listen(server);
  return { origin: `http://127.0.0.1:${port}`, got };
}

const served: RequestListener = ({ url = '' }, response) => {
  const text = (files as { [path: string]: string })[decodeURIComponent(url.slice('/docs/'.length))];
  response.writeHead(text === undefined ? 404 : 200).end(text);
};

const expected = {
  entry: {
    inputSchema: { properties: { chain: { type: 'string', enum: ['base', 'eth'] } } },
    outputSchema: {
      properties: { price: { properties: { wei: { type: 'integer' }, more: { type: 'object' } } } },
    },
  },
  call: {
    path: '/gas/{chain}',
    api: { sharedKeys: [{ in: 'headers', kind: 'bearer', variables: [{ name: 'GAS_TOKEN' }] }] },
  },
};

describe('references to documents', () => {
  it('beside a file are followed, from each to each', async () => {
    const place = join(folder(files), 'api.yaml');
    expect(await toolOf(place, 'getGas')).toMatchObject(expected);
    expect(await toolOf(place, 'inline')).toMatchObject({ entry: { outputSchema: { required: ['price'] } } });
    expect(operationsOf((await documentAt(place)).document).map(operationName)).toEqual(['getGas', 'inline']);
  });

  it('of the same origin are followed, each requested once with the same headers', async () => {
    const { origin, got } = await serve(served);
    const tool = await toolOf(`${origin}/docs/api.yaml`, 'getGas', [['X-Key', 's3cret']]);
    expect(tool).toMatchObject(expected);
    expect(got.map(({ url }) => url).sort()).toEqual(
      Object.keys(files)
        .map((path) => `/docs/${encodeURI(path)}`)
        .sort(),
    );
    for (const { headers } of got) expect(headers['x-key']).toBe('s3cret');
  });

  const referring = (reference: string, more = {}) =>
    folder({ ...files, 'api.yaml': root.replace('schemas/gas.json#/$defs/Gas', reference), ...more });
  const refusal = (directory: string) =>
    toolOf(join(directory, 'api.yaml'), 'inline').then(
      () => 'became a tool',
      (error: Error) => error.message,
    );

  it.each([
    ['../secret.json', 'it is not in the folder of the document'],
    ['/etc/passwd', 'it is not in the folder of the document'],
    ['schemas/../../secret.json', 'it is not in the folder of the document'],
    ['%2e%2e/secret.json', 'it is not in the folder of the document'],
    ['..%5csecret.json', 'it is not in the folder of the document'],
    ['.git/config', 'it is not in the folder of the document'],
    ['https://evil.example/x.json#/a', 'only files beside the document are read'],
    ['//evil.example/x.json', 'only files beside the document are read'],
    ['file:///etc/passwd', 'only files beside the document are read'],
    ['nowhere.json', 'nowhere.json: there is no such file'],
    ['broken.json', 'is not JSON'],
    ['folder.json', 'is not a regular file'],
    ['.env.json', 'only .json, .yaml and .yml files are read'],
    ['.secrets/key.yaml', 'only .json, .yaml and .yml files are read'],
    ['terraform.tfstate', 'only .json, .yaml and .yml files are read'],
    ['key.pem', 'only .json, .yaml and .yml files are read'],
    ['schemas', 'only .json, .yaml and .yml files are read'],
    ['link.json', 'is a link'],
    ['linked/x.json', 'is a link'],
    ['schemas/gas.json#/nothing', 'points to nothing'],
    ['schemas/gas.json#anchor', 'is not a JSON pointer'],
  ])('%s is refused by name, and only where it is needed', async (reference, why) => {
    const directory = referring(reference, {
      'broken.json': '{"a":',
      'folder.json/x.json': '{}',
      ...Object.fromEntries(
        ['.env.json', '.secrets/key.yaml', 'terraform.tfstate', 'key.pem'].map((path) => [
          path,
          '{"type":"object"}',
        ]),
      ),
    });
    const secret = folder({ 'x.json': '{"type":"object"}' });
    symlinkSync(join(secret, 'x.json'), join(directory, 'link.json'));
    symlinkSync(secret, join(directory, 'linked'));
    const said = await refusal(directory);
    expect(said).toContain(JSON.stringify(reference));
    expect(said).toContain(why);
    expect(said).toContain('api.yaml#/paths/~1inline/get/responses/200');
    expect(await toolOf(join(directory, 'api.yaml'), 'getGas')).toMatchObject(expected);
  });

  it.each(['gas.YAML', 'gas.yml', 'gas.json'])('to %s are followed', async (name) => {
    const at = folder({
      'api.yaml': root.replace('paths/gas.yaml', `paths/${name}`),
      'schemas/gas.json': files['schemas/gas.json'],
      'schemas/price.json': files['schemas/price.json'],
      'more parts/keys.yaml': files['more parts/keys.yaml'],
      [`paths/${name}`]: gasPath,
    });
    expect(await toolOf(join(at, 'api.yaml'), 'GET /gas/{chain}')).toBeDefined();
  });

  it('in a circle of documents end', async () => {
    const directory = referring('a.json', { 'a.json': '{"$ref":"b.json"}', 'b.json': '{"$ref":"a.json"}' });
    expect(await refusal(directory)).toContain('this reference is circular');
  });

  it('in another document are refused with its name as the place', async () => {
    const bad = JSON.stringify({ type: 'object', properties: { a: { $ref: '../../x.json' } } });
    expect(await refusal(referring('schemas/bad.json', { 'schemas/bad.json': bad }))).toContain(
      'schemas/bad.json#/properties/a: cannot be a tool: the reference "../../x.json" points outside the document',
    );
  });

  it('to more documents than 2,000 are refused', async () => {
    const many = Array.from({ length: 2_100 }, (_, i) => [`many/${i}.json`, `{"$ref":"${i + 1}.json"}`]);
    const listed = many.map(([path]) => ({ $ref: path }));
    const first = { 'all.json': JSON.stringify({ type: 'object', anyOf: listed }) };
    expect(await refusal(referring('all.json', { ...first, ...Object.fromEntries(many) }))).toContain(
      'more than 2000 documents are referred to',
    );
  });

  it('of another origin are refused and not requested', async () => {
    const other = await serve((_, response) => response.end('{"type":"object"}'));
    const text = root.replace('schemas/gas.json#/$defs/Gas', `${other.origin}/x.json`);
    const { origin } = await serve((request, response) =>
      request.url === '/docs/api.yaml' ? response.end(text) : served(request, response),
    );
    await expect(toolOf(`${origin}/docs/api.yaml`, 'inline')).rejects.toThrow(`only ${origin} is read`);
    expect(await toolOf(`${origin}/docs/api.yaml`, 'getGas')).toMatchObject(expected);
    expect(other.got).toEqual([]);
  });
});

describe('headers for a document', () => {
  it('are not sent to the host of a redirect', async () => {
    const other = await serve((_, response) => response.end(root));
    const { origin } = await serve((_, response) => {
      response.writeHead(302, { location: `${other.origin}/api.yaml` }).end();
    });
    await expect(readDocumentText(`${origin}/api.yaml`, [['x-key', 's3cret']])).rejects.toThrow(
      `it redirects to another host, ${other.origin}/api.yaml`,
    );
    expect(other.got).toEqual([]);
  });

  it('are in no error', async () => {
    const { origin } = await serve((_, response) => response.writeHead(401).end());
    const failed = readDocumentText(`${origin}/api.yaml`, [['x-key', 's3cret']]).catch((error) => error);
    const error = await failed;
    expect(error.message).toBe(`${origin}/api.yaml: the server answers HTTP 401`);
    expect(error.hint).toBe("Give its key: --header 'authorization: Bearer …'.");
    expect(JSON.stringify(error) + error.stack).not.toContain('s3cret');
  });

  it('replace a user in the URL, which no error repeats', async () => {
    const failed = await readDocumentText('https://me:pa55@api.example/x.yaml').catch((error) => error);
    expect(failed.message).toBe('the URL: it contains a user');
  });
});
