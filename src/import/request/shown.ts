/** Whether a text is a curl command rather than the path of a file; a prompt before it is that of a page of documentation. */
export function isCurl(text: string): boolean {
  return /^\s*(?:[$>%]\s+)?curl(?:\.exe)?\s/.test(text);
}

/** The commands that were read, without their keys. It is apart from the reader, which most runs do not load. */
const readable = new Map<string, string>();

export function remember(text: string, shown: string): void {
  readable.set(text, shown);
}

/** What repeats a request: a path as it is, a command with variables in place of its keys. */
export function withoutKeys(text: string): string {
  return isCurl(text) ? (readable.get(text) ?? 'curl …') : text;
}
