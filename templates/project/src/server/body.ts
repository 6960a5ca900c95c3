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
    const chunks: Buffer[] = [];
    let size = 0;
    let refusal: NodeJS.Timeout | undefined;
    const refuseSoon = () => {
      refusal ??= setTimeout(resolve, discardMs, null).unref();
    };
    if (Number(request.headers['content-length']) > mostBytes) refuseSoon();
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostBytes) chunks.push(chunk);
      else refuseSoon();
    });
    request.on('end', () => {
      clearTimeout(refusal);
      resolve(size <= mostBytes ? Buffer.concat(chunks) : null);
    });
    request.on('error', reject);
  });
}
