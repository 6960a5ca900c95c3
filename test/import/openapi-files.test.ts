import { describe, expect, it } from 'vitest';
import { documentOf, importOf, refusalOf, swaggerOf, toolOf } from './openapi.ts';

const binary = { type: 'string', format: 'binary' };
const part = (schema: object, more: object = {}) => ({
  'multipart/form-data': {
    schema: { type: 'object', required: ['doc'], properties: { doc: schema, ...more } },
  },
});
const withBody = (content: object, required = true) =>
  documentOf({ requestBody: { required, content } }, { openapi: '3.1.0' });

describe('a file of a multipart body', () => {
  it.each([
    ['binary text', binary],
    ['binary text that may be null', { ...binary, nullable: true }],
    ['a media type of bytes', { contentMediaType: 'application/pdf' }],
    ['a reference to it', { allOf: [binary] }],
  ])('declared as %s is an argument in base64, with its name in another argument', async (_, schema) => {
    const { inputs, required, call } = await toolOf(withBody(part(schema, { note: { type: 'string' } })));
    expect(inputs.doc).toMatchObject({ type: 'string', contentEncoding: 'base64', maxLength: 1_000_000 });
    expect(inputs.doc_name).toMatchObject({ type: 'string', default: 'file' });
    expect(required).toEqual(['chain', 'doc']);
    expect(call.body).toEqual({
      kind: 'multipart',
      content: {
        members: [
          { name: 'doc', input: 'doc' },
          { name: 'note', input: 'note' },
        ],
      },
      files: [{ name: 'doc', fileName: 'doc_name' }],
    });
  });

  it.each([
    ['a text that is base64 already', { type: 'string', contentEncoding: 'base64' }],
    ['a text with a media type', { type: 'string', contentMediaType: 'text/plain' }],
    ['a text', { type: 'string', format: 'byte' }],
  ])('is not %s', async (_, schema) => {
    const { inputs, call } = await toolOf(withBody(part(schema)));
    expect(inputs.doc).not.toHaveProperty('contentEncoding');
    expect(call.body).not.toHaveProperty('files');
  });

  it('may be one of several', async () => {
    const { inputs, call } = await toolOf(withBody(part({ type: 'array', items: binary })));
    expect(inputs.doc).toMatchObject({ type: 'array', items: { contentEncoding: 'base64' } });
    expect(call.body?.files).toEqual([{ name: 'doc', fileName: 'doc_name' }]);
  });

  it('has a unique name', async () => {
    const { call } = await toolOf(withBody(part(binary, { doc_name: { type: 'string' } })));
    expect(call.body?.files).toEqual([{ name: 'doc', fileName: 'body_doc_name' }]);
  });

  it('has the media type of its encoding, if that is a single one', async () => {
    const typeOf = async (contentType: string) => {
      const [[type, media] = []] = Object.entries(part(binary));
      const { call } = await toolOf(
        withBody({ [type ?? '']: { ...media, encoding: { doc: { contentType } } } }),
      );
      return call.body?.files?.[0]?.mediaType;
    };
    expect(await typeOf('image/png')).toBe('image/png');
    expect(await typeOf('image/png, image/jpeg')).toBeUndefined();
    expect(await typeOf("image/png'\n")).toBeUndefined();
  });

  it('stands beside parts with types of their own', async () => {
    const meta = { type: 'object', properties: { a: { type: 'string' } } };
    const more = {
      meta,
      xml: meta,
      note: { type: 'string' },
      list: { type: 'array', items: { type: 'string' } },
    };
    const [[type, media] = []] = Object.entries(part(binary, more));
    const encoding = {
      meta: { contentType: 'application/json; charset=utf-8' },
      xml: { contentType: 'application/xml' },
      note: { contentType: 'text/markdown' },
      list: { contentType: 'text/plain', style: 'form' },
    };
    const { call, changes } = await toolOf(withBody({ [type ?? '']: { ...media, encoding } }));
    expect(call.body?.partTypes).toEqual({
      meta: 'application/json; charset=utf-8',
      note: 'text/markdown',
      list: 'text/plain',
    });
    expect(changes.map(({ path, what }) => `${path?.split('/').at(-1)} ${what}`)).toEqual([
      'xml is application/xml, which tools cannot write: it is sent as JSON',
      'list has a style, which parts do not have: each value is a part',
    ]);
  });

  it('has its own type in Swagger 2.0', async () => {
    const parameters = [
      { name: 'doc', in: 'formData', required: true, type: 'file', description: 'The document' },
      { name: 'note', in: 'formData', type: 'string' },
    ];
    const { inputs, call } = await toolOf(swaggerOf({ parameters }));
    expect(inputs.doc).toMatchObject({
      contentEncoding: 'base64',
      description: 'The document. In base64.',
    });
    expect(call.body?.files).toEqual([{ name: 'doc', fileName: 'doc_name' }]);
  });
});

describe('a body that is a file', () => {
  it.each(['application/octet-stream', 'image/png', 'application/pdf', 'application/vnd.ms-excel'])(
    '%s is one argument in base64',
    async (type) => {
      const { inputs, required, call } = await toolOf(withBody({ [type]: {} }));
      expect(inputs.body).toMatchObject({ type: 'string', contentEncoding: 'base64' });
      expect(required).toEqual(['chain', 'body']);
      expect(call.body).toEqual({ kind: 'binary', content: { input: 'body' }, mediaType: type });
    },
  );

  it('is used only if there is no JSON body', async () => {
    const json = { schema: { type: 'object', properties: { a: { type: 'string' } } } };
    const { call } = await toolOf(withBody({ 'image/png': {}, 'application/json': json }));
    expect(call.body?.kind).toBe('json');
  });

  it.each(['image/*', '*/*', 'text/csv', 'application/xml', 'application/vnd.x+xml', 'image/svg+xml'])(
    '%s is refused',
    async (type) => {
      expect((await refusalOf(withBody({ [type]: {} })))?.message).toContain(
        `it takes a body of ${type}; only JSON, forms and files are supported`,
      );
      expect((await importOf(withBody({ [type]: {} }, false))).ok).toBe(true);
    },
  );
});
