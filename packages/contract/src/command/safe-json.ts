import { jsonEscape, visibleJson } from '../json/json.ts';

/**
 * JSON on one line in which control and direction characters are escaped, and so is `##[`, which GitHub Actions
 * would read as a command: safe to print, even if its writer is untrusted.
 */
export function safeJson(value: object): string {
  const json = JSON.stringify(value).replaceAll('##[', `#${jsonEscape('#'.charCodeAt(0))}[`);
  return visibleJson(json);
}
