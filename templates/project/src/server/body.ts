import type { IncomingMessage } from 'node:http';

export type BodyFault = 'media-type' | 'too-large' | 'not-json';

/** A request body as the one value that everything after it looks at, or why there is none. */
export type Body =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: BodyFault };

const json = /^application\/json[ \t]*(?:;|$)/i;

const discardMs = 500;

/**
 * Reads and parses a JSON body. This is the only place where one is parsed: what the gate looks at is what the
 * handlers get.
 *
 * @param mostBytes size limit, held for bodies of declared and of undeclared length
 * @throws Error where the caller goes away before its body is complete.
 */
export async function readBody(request: IncomingMessage, mostBytes: number): Promise<Body> {
  if (!json.test(request.headers['content-type'] ?? '')) return { ok: false, fault: 'media-type' };
  const bytes = await readWithin(request, mostBytes);
  if (bytes === null) return { ok: false, fault: 'too-large' };
  try {
    return { ok: true, value: JSON.parse(bytes.toString()) };
  } catch {
    return { ok: false, fault: 'not-json' };
  }
}

/** Whether a message of that method is in a body: alone, in a batch, or in a batch of batches. */
export function holdsMethod(body: unknown, method: string): boolean {
  const unseen: unknown[] = [body];
  while (unseen.length > 0) {
    const value = unseen.pop();
    if (Array.isArray(value)) for (const member of value) unseen.push(member);
    else if (Object(value).method === method) return true;
  }
  return false;
}

/**
 * Takes for a moment what still comes of a request that has its answer, then closes the connection: a sender that never
 * ends would hold up whatever comes after.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  setTimeout(() => request.complete || request.destroy(), discardMs).unref();
}

/**
 * The body; null where it is over the limit. That is told once all has come, or after a moment: many senders, and
 * proxies between, take no answer before they have sent everything.
 */
function readWithin(request: IncomingMessage, mostBytes: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    let size = 0;
    let refusal: NodeJS.Timeout | undefined;
    const refuseSoon = () => {
      refusal ??= setTimeout(resolve, discardMs, null).unref();
    };
    if (Number(request.headers['content-length']) > mostBytes) refuseSoon();
    request.on('data', (chunk: Buffer) => {
      if (size + chunk.length > mostBytes) refuseSoon();
      else bytes = append(bytes, size, chunk);
      size += chunk.length;
    });
    request.on('end', () => {
      clearTimeout(refusal);
      resolve(size <= mostBytes ? bytes.subarray(0, size) : null);
    });
    request.on('error', reject);
  });
}

/**
 * A buffer that begins with the first `size` bytes of one and a chunk after them. It doubles when it is full: kept as
 * chunks, a body that comes byte by byte would take two hundred times its size.
 */
function append(bytes: Buffer, size: number, chunk: Buffer): Buffer {
  if (size === 0) return chunk;
  const needed = size + chunk.length;
  const roomy = needed <= bytes.length ? bytes : Buffer.concat([bytes], 2 * needed);
  chunk.copy(roomy, size);
  return roomy;
}
