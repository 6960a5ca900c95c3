import { expect, it } from 'vitest';
import { answer, documentOf, refusalOf, swaggerOf, toolOf } from './openapi.ts';

const object = { type: 'object', properties: { email: { type: 'string' } }, required: ['email'] };
const accepted = async (document: object) => {
  const { call } = await toolOf(document);
  return call.headers.find(({ name }) => name === 'accept')?.constant;
};

it.each([
  'application/vnd.api+json',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/hal+json',
  'application/json; charset=utf-8',
  'application/x-amz-json-1.1',
])('a body and an answer of %s have this type', async (type) => {
  const requestBody = { required: true, content: { [type]: { schema: object } } };
  const document = documentOf({
    requestBody,
    responses: { 200: { content: { [type]: { schema: answer } } } },
  });
  const { call } = await toolOf(document);
  expect(call.body).toMatchObject({ kind: 'json', mediaType: type });
  expect(await accepted(document)).toBe(type);
});

it('a body and an answer of application/json, and of any type, have the default type', async () => {
  for (const type of ['application/json', '*/*', 'application/*']) {
    const requestBody = { required: true, content: { [type]: { schema: object } } };
    const document = documentOf({
      requestBody,
      responses: { 200: { content: { [type]: { schema: answer } } } },
    });
    const { call } = await toolOf(document);
    expect(call.body, type).not.toHaveProperty('mediaType');
    expect(await accepted(document), type).toBeUndefined();
  }
});

it('a patch of an object is sent as a merge patch, where the document has both, and a list as a JSON patch', async () => {
  const types = ['application/json-patch+json', 'application/merge-patch+json'];
  const patchOf = (schema: object) => {
    const content = Object.fromEntries(types.map((type) => [type, { schema }]));
    return documentOf({ requestBody: { required: true, content } });
  };
  const merged = await toolOf(patchOf(object));
  expect(merged.call.body?.mediaType).toBe('application/merge-patch+json');
  const listed = await toolOf(patchOf({ type: 'array', items: { type: 'object' } }));
  expect(listed.call.body?.mediaType).toBe('application/json-patch+json');
});

it('a form has the declared parameters of its type', async () => {
  const type = 'application/x-www-form-urlencoded; charset=utf-8';
  const { call } = await toolOf(documentOf({ requestBody: { content: { [type]: { schema: object } } } }));
  expect(call.body).toMatchObject({ kind: 'form', mediaType: type });
});

it('a document of Swagger 2.0 has the types of its operation, or of the whole document', async () => {
  const body = { name: 'body', in: 'body', required: true, schema: object };
  const type = 'application/vnd.api+json';
  const own = swaggerOf({ parameters: [body], consumes: [type], produces: [type] });
  const shared = swaggerOf({ parameters: [body] }, { consumes: [type], produces: ['text/html', type] });
  for (const document of [own, shared]) {
    expect((await toolOf(document)).call.body?.mediaType).toBe(type);
    expect(await accepted(document)).toBe(type);
  }
  const both = swaggerOf({ parameters: [body], consumes: [type, 'application/json'] });
  expect((await toolOf(both)).call.body).not.toHaveProperty('mediaType');
});

it('a body of Swagger 2.0 of another type is rejected, or listed if it is optional', async () => {
  const body = { name: 'body', in: 'body', schema: object };
  const required = swaggerOf({ parameters: [{ ...body, required: true }], consumes: ['application/xml'] });
  expect((await refusalOf(required))?.message).toContain('it takes a body of application/xml');
  const { call, changes } = await toolOf(swaggerOf({ parameters: [body], consumes: ['application/xml'] }));
  expect(call.body).toBeNull();
  expect(changes.map(({ what }) => what).join()).toContain('is an optional body of application/xml');
});

it('form parameters of Swagger 2.0 are parts where the operation takes only multipart/form-data', async () => {
  const parameters = [{ name: 'a', in: 'formData', type: 'array', items: { type: 'string' } }];
  const { call, changes } = await toolOf(swaggerOf({ parameters, consumes: ['multipart/form-data'] }));
  expect(call.body?.kind).toBe('multipart');
  expect(changes.map(({ what }) => what)).toContain(
    'has a style, which parts do not have: each value is a part',
  );
});

it.each(['text/csv', 'application/xml', 'application/*+json'])(
  'an optional body of %s is listed as not sent, and a required one is rejected',
  async (type) => {
    const content = { [type]: { schema: { type: 'string' } } };
    const { call, changes } = await toolOf(documentOf({ requestBody: { content } }));
    expect(call.body).toBeNull();
    const listed = changes.find(({ what }) => what.startsWith(`is an optional body of ${type}`));
    expect(listed?.path).toContain('requestBody');
    const refusal = await refusalOf(documentOf({ requestBody: { required: true, content } }));
    expect(refusal?.message).toContain(`it takes a body of ${type}`);
  },
);
