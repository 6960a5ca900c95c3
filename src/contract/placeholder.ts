/** Marks a schema whose examples were made up because its author gave none: its `$comment` starts with this word. */
const mark = 'PLACEHOLDER';

/** What stands beside a made-up example, in the author's file and in `tools/list`. */
export const placeholderComment = `${mark}: replace the examples by a value that this tool answers, and remove this comment.`;

export function isPlaceholder($comment: unknown): boolean {
  return typeof $comment === 'string' && $comment.startsWith(mark);
}
