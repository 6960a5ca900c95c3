/** Marks a schema with placeholder examples because its author gave none: its `$comment` starts with this word. */
const mark = 'PLACEHOLDER';

/** The comment beside a placeholder, in the author's file and in `tools/list`. */
export const placeholderComment = `${mark}: replace the examples by a value for which this tool returns data, and remove this comment.`;

export function isPlaceholder($comment: unknown): boolean {
  return typeof $comment === 'string' && $comment.startsWith(mark);
}
