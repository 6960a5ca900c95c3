import { notAnswered, ProjectError } from '../errors.ts';
import { allOf, readInput } from './input.ts';

/** Limits for a document from the network. */
const most = { bytes: 100_000_000, ms: 60_000, hops: 3 };

/** A document as text, and its URL if it came from the network. */
export interface DocumentText {
  readonly text: string;
  readonly url: string | null;
}

/**
 * The text of a document: a file, `-` for standard input, or an http or https URL, which is requested
 * once. Redirects to another host are not followed.
 *
 * @throws ProjectError `NOT_READABLE`; CommandError `NOT_ANSWERED` when the time limit has passed
 */
export async function readDocumentText(place: string, ms = most.ms): Promise<DocumentText> {
  if (!/^https?:\/\//i.test(place)) return { text: await readInput(place, most.bytes), url: null };
  const shown = place.replace(/[?#].*$/s, '');
  if (!URL.canParse(place)) throw unreadable(shown, 'it is not a valid URL', 'Correct the address.');
  try {
    return await fetched(new URL(place), shown, AbortSignal.timeout(ms));
  } catch (error) {
    if (error instanceof ProjectError) throw error;
    if ((error as Error).name === 'TimeoutError') throw notAnswered(shown, 'it was not read', ms);
    const { code = (error as Error).name } = ((error as Error).cause ?? {}) as { code?: string };
    throw unreadable(
      shown,
      `it cannot be fetched (${code})`,
      'Check the address, or save the document to a file.',
    );
  }
}

async function fetched(address: URL, shown: string, signal: AbortSignal): Promise<DocumentText> {
  let url = address;
  const headers = { accept: 'application/json, application/yaml, */*;q=0.5' };
  for (let hops = 0; hops <= most.hops; hops += 1) {
    const response = await fetch(url, { redirect: 'manual', signal, headers });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) {
      if (!response.ok)
        throw unreadable(
          shown,
          `the server answers HTTP ${response.status}`,
          'Open the address in a browser, and correct it.',
        );
      const tooLarge = () =>
        unreadable(shown, `it has more than ${most.bytes} bytes`, 'Use a smaller document.');
      const bytes = await allOf(response.body ?? [], most.bytes, tooLarge);
      return { text: new TextDecoder().decode(bytes), url: url.href };
    }
    await response.body?.cancel();
    const next = URL.canParse(location, url.href) ? new URL(location, url) : null;
    if (next?.host !== url.host || !/^https?:$/.test(next.protocol)) {
      throw unreadable(shown, 'it redirects to another host', 'Use the address that it redirects to.');
    }
    url = next;
  }
  throw unreadable(shown, 'it redirects in a circle', 'Download the document and use the file.');
}

function unreadable(place: string, why: string, hint: string): ProjectError {
  return new ProjectError('NOT_READABLE', `${place}: ${why}`, hint);
}
