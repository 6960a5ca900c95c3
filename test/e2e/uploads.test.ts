import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { serveHere } from '../api-server.ts';
import { compile, create, evaluated, expectProven, scaffold, scratch, succeeded, tree } from './support.ts';

const root = scratch();
const ok = { type: 'object', properties: { id: { type: 'string', description: 'Id' } }, required: ['id'] };
const responses = {
  200: { description: 'ok', content: { 'application/json': { schema: ok, example: { id: 'f1' } } } },
};
const binary = { type: 'string', format: 'binary' };
const document = {
  openapi: '3.0.3',
  info: { title: 'Files', version: '1' },
  servers: [{ url: 'https://api.files.example/v1' }],
  security: [{ key: [] }],
  components: {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
    schemas: { Scan: { ...binary, description: 'The scan' } },
  },
  paths: {
    '/files': {
      post: {
        operationId: 'createFile',
        summary: 'Create a file.',
        requestBody: {
          required: true,
          content: {
            'multipart/form-data': {
              schema: {
                type: 'object',
                required: ['file', 'purpose'],
                properties: {
                  file: { $ref: '#/components/schemas/Scan' },
                  pages: { type: 'array', items: binary },
                  purpose: { type: 'string', description: 'What it is for', enum: ['test', 'live'] },
                  labels: {
                    type: 'object',
                    description: 'Labels',
                    properties: { a: { type: 'string', description: 'A' } },
                  },
                },
              },
              encoding: { file: { contentType: 'image/png' } },
            },
          },
        },
        responses,
      },
    },
    '/files/{id}/content': {
      put: {
        operationId: 'putContent',
        summary: 'Put the content of a file.',
        parameters: [
          {
            name: 'id',
            in: 'path',
            required: true,
            schema: { type: 'string' },
            description: 'Id',
            example: 'f1',
          },
        ],
        requestBody: { required: true, content: { 'application/octet-stream': { schema: binary } } },
        responses,
      },
    },
  },
};

/** The bodies that the API received: fields of a form by name, or the whole body. */
let got: unknown[] = [];
const http = createServer(async (request, response) => {
  const body = await buffer(request);
  const type = request.headers['content-type'] ?? '';
  const entry = { method: request.method, path: request.url, key: request.headers['x-api-key'] };
  if (!type.startsWith('multipart/')) got.push({ ...entry, type, body: digest(body) });
  else {
    const form = await new Response(body, { headers: { 'content-type': type } }).formData();
    const parts = await Promise.all(
      [...form].map(async ([name, value]) =>
        typeof value === 'string'
          ? [name, value]
          : [name, value.name, value.type, digest(Buffer.from(await value.arrayBuffer()))],
      ),
    );
    got.push({ ...entry, parts });
  }
  // The first attempt of a PUT fails, so its body has to be sent twice.
  const isRepeated = request.method === 'PUT' && got.length === 1;
  response.writeHead(isRepeated ? 503 : 200, { 'content-type': 'application/json' });
  response.end(isRepeated ? '' : '{"id":"f7"}');
});
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

let directory: string;
const url = await serveHere(http);
beforeAll(async () => {
  writeFileSync(join(root, 'files.json'), JSON.stringify(document));
  const chosen = ['--operation', 'createFile', '--operation', 'putContent'];
  ({ directory } = await scaffold(['files', '--from-openapi', join(root, 'files.json'), ...chosen], {
    cwd: root,
  }));
});

/** Calls tools with arguments and returns the structured content of each. */
async function called(calls: readonly (readonly [tool: string, args: object])[]): Promise<unknown> {
  got = [];
  const input = join(root, 'calls.json');
  writeFileSync(input, JSON.stringify(calls));
  const body = `
    const { readFileSync } = await import('node:fs');
    const ended = [];
    for (const [name, args] of JSON.parse(readFileSync(${JSON.stringify(input)}, 'utf8')))
      ended.push((await callTool(named(name), args)).structuredContent);
    return ended;`;
  const env = { FILES_URL: url, FILES_API_KEY: 's3cret-files' };
  const { value, printed } = await evaluated(directory, body, env);
  expect(printed).not.toContain('s3cret');
  return value;
}

describe('operations with files', () => {
  it('become tools with files as base64 arguments if they are named', async () => {
    const files = tree(directory);
    const source = files.get('src/tools/create-file.ts') ?? '';
    expect(source).toContain("contentEncoding: 'base64'");
    expect(source).toMatch(/description: 'The scan\. In base64\.'/);
    expect(source).toContain(
      "files: { file: { name: input.file_name, type: 'image/png' }, pages: { name: input.pages_name } }",
    );
    expect(source).toContain('readOnlyHint: false');
    await succeeded(compile(directory));
    const none = await create(['none', '--yes', '--from-openapi', join(root, 'files.json')], { cwd: root });
    expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('createFile, putContent')]);
    expect(tree(join(root, 'none')).size).toBe(0);
  });

  it('pass tests and self-check without the API', async () => {
    await expectProven(directory);
  });

  it('send the exact bytes, in a form and alone, also when a request is repeated', async () => {
    const bytes = randomBytes(100_000);
    const [content, sum] = [bytes.toString('base64'), digest(bytes)];
    const hello = digest(Buffer.from('hello'));
    const args = {
      file: content,
      file_name: 'a "b".png',
      pages: ['aGVsbG8=', ''],
      purpose: 'test',
      labels: { a: 'x' },
    };
    expect(await called([['createFile', args]])).toEqual([{ id: 'f7' }]);
    expect(got).toEqual([
      {
        method: 'POST',
        path: '/files',
        key: 's3cret-files',
        parts: [
          ['file', 'a "b".png', 'image/png', sum],
          ['pages', 'file', 'application/octet-stream', hello],
          ['pages', 'file', 'application/octet-stream', digest(Buffer.alloc(0))],
          ['purpose', 'test'],
          ['labels', '{"a":"x"}'],
        ],
      },
    ]);
    expect(await called([['putContent', { id: 'f7', body: content }]])).toMatchObject([{ id: 'f7' }]);
    const put = {
      method: 'PUT',
      path: '/files/f7/content',
      key: 's3cret-files',
      type: 'application/octet-stream',
    };
    expect(got).toEqual([
      { ...put, body: sum },
      { ...put, body: sum },
    ]);
  });

  it('refuse invalid base64 and files that are too large before any request', async () => {
    const file = (text: string) => ['putContent', { id: 'f7', body: text }] as const;
    const wrong = ['%PDF-1.7', 'aGVsbG8', 'aGVs\nbG8=', 'aGVsbG8-', 'a'.repeat(1_000_004)];
    const ended = await called([...wrong.map(file), ['createFile', { file: 'no', purpose: 'test' }]]);
    expect(ended).toEqual(
      [...wrong, 'no'].map(() => expect.objectContaining({ error: 'INVALID_ARGUMENTS' })),
    );
    expect(got).toEqual([]);
  });
});
