/** What precedes a command in documentation and terminals: lines of comment, and the prompt of a shell. */
const prelude = /^(?:\s*#(?!\s*curl\s)[^\n]*\n)*\s*(?:[$>%#]\s+|[A-Z]:\\[^<>\n]*>\s*)?/i;

/**
 * Returns the command in a text without the comments and the prompt before it, and without blanks behind a backslash that joins
 * lines. Where words are in `'`, a caret at the end of a line becomes a backslash; a cmd command keeps its carets.
 */
export function pastedCommand(text: string): string {
  const command = text.replace(prelude, '').replaceAll(/\\[ \t]+(?=\r?\n)/g, '\\');
  const joinsByCaret = /'[ \t]*\^[ \t]*\r?\n/.test(command);
  if (joinsByCaret) return command.replaceAll(/\^[ \t]*(?=\r?\n)/g, '\\');
  return command;
}

/** Returns whether a text is a curl command rather than the path of a file. */
export function isCurl(text: string): boolean {
  return /^(?:\/\S*\/|[A-Z]:\\\S*\\)?curl(?:\.exe)?\s/i.test(pastedCommand(text));
}

/** A command whose keys are variables. */
export interface KeylessCommand {
  readonly line: string;
  readonly variables: readonly string[];
}

/** The commands that were read, by their texts. */
export type KeylessCommands = ReadonlyMap<string, KeylessCommand>;

/** The text that repeats a request: a plain path, or a command with variables instead of its keys. */
export function withoutKeys(text: string, commands: KeylessCommands): string {
  if (isCurl(text)) return commands.get(text)?.line ?? 'curl …';
  return text;
}
