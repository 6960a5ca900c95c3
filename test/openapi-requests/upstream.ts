import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isObject } from '../../packages/contract/src/json/json.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';

/** A request, as the upstream judged it. */
export interface Received {
  /** The operation of the document that the request reached, `GET /gas/{chain}`; null if none. */
  readonly operation: string | null;
  /** The mismatches with the document. */
  readonly errors: readonly string[];
  readonly authorization: string | undefined;
}

interface Operation {
  readonly operationId: string;
}

/** The part of openapi-backend that is used here. */
interface Backend {
  init(): Promise<void>;
  matchOperation(request: object): Operation | undefined;
  validateRequest(
    request: object,
    operation: Operation,
  ): { readonly errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null };
  mockResponseForOperation(id: string): { readonly status: number; readonly mock?: unknown };
}

/**
 * An HTTP server that validates each request against an OpenAPI document, with openapi-backend, and answers as the
 * examples or schemas of the document say. A request for a path outside of the document ends the list of one call.
 *
 * @param apiRoot the path of the document's server, `/v1`
 * @param modules the node_modules directory with openapi-backend
 * @returns `calls` has the requests of each call
 */
export async function upstreamOf(
  document: JsonObject,
  apiRoot: string,
  modules: string,
): Promise<{ readonly server: Server; readonly calls: readonly (readonly Received[])[] }> {
  const packageOf = createRequire(join(modules, 'x.js'));
  const { OpenAPIBackend } = packageOf('openapi-backend');
  const { parse: parseForm }: { parse(form: string): object } = packageOf('qs');
  const definition = withIds(document);
  const backendOf = async (coerceTypes: boolean): Promise<Backend> => {
    const ajvOpts = { strict: false, logger: false, coerceTypes };
    const backend: Backend = new OpenAPIBackend({
      definition,
      apiRoot,
      quick: true,
      coerceTypes: true,
      ajvOpts,
    });
    await backend.init();
    return backend;
  };
  // All values of forms are texts.
  const [forms, others] = [await backendOf(true), await backendOf(false)];
  const calls: Received[][] = [[]];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    if (url === endOfCall) {
      calls.push([]);
      response.end();
      return;
    }
    const [path = '', query = ''] = url.split('?');
    const bytes = await buffer(request);
    const type = headers['content-type'] ?? '';
    const isForm = type.startsWith('application/x-www-form-urlencoded');
    const isMultipart = type.startsWith('multipart/form-data');
    let body: unknown = bytes.toString();
    if (isForm) body = parseForm(bytes.toString());
    else if (isMultipart) body = await partsOf(bytes, type);
    const asked = { method, path, query, headers, ...(bytes.length > 0 && { body }) };
    const backend = isForm || isMultipart ? forms : others;
    const operation = backend.matchOperation(asked);
    calls.at(-1)?.push({
      operation: operation?.operationId ?? null,
      errors: operation ? mismatchesOf(backend, asked, operation) : [],
      authorization: headers.authorization,
    });
    const { status, mock } = mockOf(backend, operation);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(mock));
  });
  return { server, calls };
}

export const endOfCall = '/end-of-call';

/**
 * The document with an id for each operation, which openapi-backend needs, and without slashes at the end of paths, which it
 * removes from requests.
 */
function withIds(document: JsonObject): JsonObject {
  const paths = Object.entries(isObject(document.paths) ? document.paths : {}).map(([path, methods]) => [
    path.replace(/(?<=.)\/$/, ''),
    Object.fromEntries(
      Object.entries(isObject(methods) ? methods : {}).map(([method, operation]) => [
        method,
        isObject(operation) ? { ...operation, operationId: `${method.toUpperCase()} ${path}` } : operation,
      ]),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

/** The parts of a multipart body: texts, and files in base64. */
async function partsOf(bytes: Buffer, type: string): Promise<object> {
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  const parts = await Promise.all(
    [...form].map(async ([name, value]) => [
      name,
      typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()).toString('base64'),
    ]),
  );
  return Object.fromEntries(parts);
}

/** The mismatches of a request; the error of the validator if it cannot compile a schema of the document. */
function mismatchesOf(backend: Backend, asked: object, operation: Operation): readonly string[] {
  try {
    const { errors } = backend.validateRequest(asked, operation);
    return (errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  } catch (error) {
    return [String(error)];
  }
}

/** The answer of an operation; `{}` where openapi-backend follows a circular schema without end. */
function mockOf(backend: Backend, operation: Operation | undefined) {
  if (!operation) return { status: 404, mock: {} };
  try {
    return backend.mockResponseForOperation(operation.operationId);
  } catch (error) {
    if (error instanceof RangeError) return { status: 200, mock: {} };
    throw error;
  }
}
