/** A fenced block to run, or the end of a program: `<!-- Ctrl-C: name -->`. */
export type Step =
  | { readonly kind: 'run'; readonly at: Span; readonly commands: readonly Command[] }
  /** A program that keeps running, such as a server. */
  | {
      readonly kind: 'start';
      readonly at: Span;
      readonly name: string;
      readonly commands: readonly Command[];
    }
  | { readonly kind: 'stop'; readonly name: string }
  | { readonly kind: 'edit'; readonly patch: string };

/** A line after `$ `, and the output shown below it. */
export interface Command {
  readonly line: string;
  readonly output: string;
}

/** Offsets of a block's text in the page. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const marked = /^```(console|diff)(?: (\w+))?\n(.*?)^```$|^<!-- Ctrl-C: (\w+) -->$/gms;

/** The steps of a page in order. Throws if a shell block begins without a command. */
export function stepsOf(page: string): readonly Step[] {
  return [...page.matchAll(marked)].map((match): Step => {
    const [whole, language = '', name, text = '', stopped] = match;
    if (stopped !== undefined) return { kind: 'stop', name: stopped };
    if (language === 'diff') return { kind: 'edit', patch: text };
    const from = match.index + whole.indexOf('\n') + 1;
    const at = { from, to: from + text.length };
    const commands = commandsOf(text);
    return name === undefined ? { kind: 'run', at, commands } : { kind: 'start', at, name, commands };
  });
}

function commandsOf(text: string): readonly Command[] {
  const [before, ...parts] = text.split(/^\$ /m);
  if (before !== '') throw new Error(`the block does not begin with a command: ${text}`);
  return parts.map((part) => {
    const end = part.indexOf('\n');
    return { line: part.slice(0, end), output: part.slice(end + 1) };
  });
}

/** The text of a block. */
export function blockOf(commands: readonly Command[]): string {
  return commands.map(({ line, output }) => `$ ${line}\n${output}`).join('');
}

/** The page with the texts of some blocks replaced. */
export function withBlocks(
  page: string,
  blocks: readonly { readonly at: Span; readonly text: string }[],
): string {
  return blocks
    .toReversed()
    .reduce((text, { at, text: block }) => text.slice(0, at.from) + block + text.slice(at.to), page);
}

/**
 * An output without parts that differ between two runs, or with each new rule or file of a project. The server writes its log in
 * another process, so its lines may be anywhere among the others: here they come first.
 */
export function comparable(output: string): string {
  const lines = output.split('\n');
  const isLog = (line: string) => line.startsWith('{"time":');
  return [...lines.filter(isLog), ...lines.filter((line) => !isLog(line))]
    .join('\n')
    .replace(/^ℹ /gm, '# ') // Node's test runner uses one or the other, depending on its version.
    .replace(/\b\d+(\.\d+)? m?s\b/g, '<time>')
    .replace(/(?<=127\.0\.0\.1:)(?!4600\b)\d+/g, '<port>')
    .replace(/\b\d+(?= (files|passed|rules? passed|answers of APIs|times)\b)/g, '<count>')
    .replace(/(?<=, call )\d+/g, '<count>')
    .replace(/(?<="(time|request)":")[^"]+/g, '<$1>');
}
