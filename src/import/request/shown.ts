/** Whether a text is a curl command rather than the path of a file; a prompt before it is that of a page of documentation. */
export function isCurl(text: string): boolean {
  return /^\s*(?:[$>%]\s+)?curl(?:\.exe)?\s/.test(text);
}

/** A command whose keys are variables. */
interface KeylessCommand {
  readonly line: string;
  readonly variables: readonly string[];
}

/** The commands that were read. This map is apart from the reader, which most runs do not load. */
const readable = new Map<string, KeylessCommand>();

export function remember(text: string, command: KeylessCommand): void {
  readable.set(text, command);
}

/** What repeats a request: a path as it is, a command with variables in place of its keys. */
export function withoutKeys(text: string): string {
  return isCurl(text) ? (readable.get(text)?.line ?? 'curl …') : text;
}

/** The variables that are the keys of a repeated command. */
export function variablesShown(text: string): readonly string[] {
  return readable.get(text)?.variables ?? [];
}
