export type BodyFault = 'media-type' | 'too-large' | 'not-json';

/** A request body as the one value that everything after it looks at, or why there is none. */
export type Body =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: BodyFault };

const json = /^application\/json[ \t]*(?:;|$)/i;

/**
 * Reads and parses a JSON body. This is the only place where one is parsed: what the gate looks at is what the
 * handlers get.
 *
 * @param mostBytes size limit, held for bodies of declared and of undeclared length
 */
export async function readBody(request: Request, mostBytes: number): Promise<Body> {
  if (!json.test(request.headers.get('content-type') ?? '')) return { ok: false, fault: 'media-type' };
  const length = request.headers.get('content-length');
  if (length !== null && Number(length) > mostBytes) return { ok: false, fault: 'too-large' };
  const text = length === null ? await readWithin(request, mostBytes) : await request.text();
  if (text === null) return { ok: false, fault: 'too-large' };
  try {
    return { ok: true, value: JSON.parse(text) };
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

async function readWithin(request: Request, mostBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    size += part.value.byteLength;
    if (size > mostBytes) {
      if (reader) void discard(reader);
      return null;
    }
    chunks.push(part.value);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** A client that is still sending reads the answer once all is taken from it; the HTTP adapter bounds how much and how long. */
async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The client has gone, or took too long.
  }
}
