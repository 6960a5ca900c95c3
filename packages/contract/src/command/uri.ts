import { attempt } from '../json/attempt.ts';

/** A text of a URI without percent-encoding; the text itself if that is invalid. */
export function uriDecoded(text: string): string {
  return attempt(() => decodeURIComponent(text), text);
}
