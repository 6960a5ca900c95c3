/** A platform repeats a call whose failure contains these (public source: app lib/ai/skills/mcp.ts). */
export const retryWords =
  /econn|etimedout|enotfound|eai_again|socket hang up|network|timeout|rate limit|too many requests|throttl|408|429|50[0234]/i;

const everyRetryWord = new RegExp(retryWords, 'gi');

/** A text of somebody else, in which an ellipsis replaces each word that makes a platform repeat the call. */
export function withoutRetryWords(text: string): string {
  return text.replaceAll(everyRetryWord, '…');
}
