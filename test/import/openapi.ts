import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import { readOpenApi } from '../../src/import/openapi/openapi-document.ts';
import { preparedOf } from './prepared.ts';

export type Members = { readonly [name: string]: unknown };

export const answer = { type: 'object', properties: { gwei: { type: 'number' } }, required: ['gwei'] };
export const ok = (schema: object = answer) => ({ 200: { content: { 'application/json': { schema } } } });
export const base = {
  openapi: '3.1.0',
  info: { title: 'Gas API' },
  servers: [{ url: 'https://api.gas.example/v1' }],
};

/** A document with one operation, `GET /gas/{chain}`, or POST if it has a body. */
export function documentOf(operation: Members, rest: Members = {}): object {
  const hasBody = /"requestBody":|"in":"(?:body|formData)"/.test(JSON.stringify(operation));
  const whole = { operationId: 'getGas', responses: ok(), ...operation };
  return {
    ...base,
    paths: { '/gas/{chain}': { [hasBody ? 'post' : 'get']: whole } },
    ...rest,
  };
}

/** A Swagger 2.0 document with one operation, `POST /gas` or of another method. */
export function swaggerOf(operation: Members, rest: Members = {}, method = 'post'): object {
  const whole = { operationId: 'getGas', responses: { 200: { schema: answer } }, ...operation };
  return {
    ...{ swagger: '2.0', info: { title: 'Gas API' }, host: 'api.gas.example' },
    paths: { '/gas': { [method]: whole } },
    ...rest,
  };
}

export async function read(document: object | string) {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  return unwrap(await readOpenApi(text, 'api.json'));
}

export async function importOf(document: object | string, operation = 'getGas') {
  return toolsOfDocument(await read(document), { operations: [operation], tool: null }, 'api.json', null);
}

export async function toolOf(document: object | string, operation = 'getGas') {
  const [imported] = unwrap(await importOf(document, operation));
  const call = imported?.call;
  if (!imported || !call) throw new Error('no tool');
  const [tool] = preparedOf([imported]).tools;
  if (!tool) throw new Error('no tool');
  const inputs = tool.definition.inputSchema.properties as { [name: string]: JsonObject };
  const outputs = tool.definition.outputSchema.properties as { [name: string]: JsonObject };
  return { ...imported, call, tool, inputs, outputs, required: tool.definition.inputSchema.required };
}

export const refusalOf = async (document: object, operation?: string) => {
  const result = await importOf(document, operation);
  if (result.ok) throw new Error('became a tool');
  return result.errors[0];
};
