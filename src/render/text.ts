/** Text for Markdown and comments: each function escapes it for one context. */

/** Text as one line of Markdown prose: markup, HTML and entities are escaped, line breaks become spaces. */
export function markdownText(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_[\]|~$]/g, '\\$&')
    .replace(/<|>|&(?=#|\w+;)/g, (character) => entities.get(character) ?? '')
    .replace(/^(#+|[-+=]|\d+[.)])(?=\s|$)/, '\\$1');
}

/** Text as inline Markdown code, with any number of backticks. */
export function markdownCode(text: string): string {
  const line = oneLine(text);
  const runs = line.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1);
  const pad = /^`|`$|^ .* $/.test(line) || line === '' ? ' ' : '';
  return fence + pad + line + pad + fence;
}

/** Text inside a block comment: it cannot end the comment. */
export function commentText(text: string): string {
  return oneLine(text).replaceAll('*/', '* /');
}

const entities = new Map([
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['&', '&amp;'],
]);

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ').trim();
}
