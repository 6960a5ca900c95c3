import { CommandError, type Result } from 'market-mcp-contract/command';
import { openApiLimits } from 'market-mcp-contract/json';

/** Where a reference to another document leads: the name of that document, or why it is not read. */
export type Led = { readonly name: string } | { readonly why: string };

/** What may be read beside a document. */
export interface Beside {
  /**
   * @param file the reference without its fragment
   * @param from name of the document that contains it; empty for the first one, also in the answer
   */
  named(file: string, from: string): Led;
  /** @throws CommandError if it cannot be read */
  read(name: string): Promise<string>;
}

export const nothingBeside: Beside = {
  named: () => ({ why: 'nothing is read beside this document' }),
  read: () => Promise.reject(new Error('nothing is read beside this document')),
};

/** The documents that the references of another one lead to, by name; or why one was not read. */
export interface Others extends Pick<Beside, 'named'> {
  readonly read: ReadonlyMap<string, { readonly value: unknown } | { readonly why: string }>;
}

const maxDocuments = 2_000;
const maxAtOnce = 8;

/**
 * Reads the documents that references lead to, and those that their references lead to.
 *
 * @param characters of the first document: all have the limit of one together
 */
export async function othersOf(
  root: unknown,
  characters: number,
  filesBeside: Beside,
  parse: (text: string, source: string) => Promise<Result<unknown>>,
): Promise<Others> {
  const read = new Map<string, { readonly value: unknown } | { readonly why: string }>();
  let left = openApiLimits.characters - characters;
  const readOne = async (name: string): Promise<void> => {
    try {
      const text = await filesBeside.read(name);
      left -= text.length;
      const parsed = left < 0 ? undefined : await parse(text, name);
      if (!parsed)
        read.set(name, { why: `the documents have more than ${openApiLimits.characters} characters` });
      else read.set(name, parsed.ok ? parsed : { why: parsed.errors[0]?.message ?? 'it is not valid' });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      read.set(name, { why: error.message });
    }
  };
  let next = referencedFiles(root, '', filesBeside);
  while (next.length > 0) {
    const fresh = [...new Set(next)].filter((name) => !read.has(name));
    for (const name of fresh.splice(Math.max(0, maxDocuments - read.size)))
      read.set(name, { why: `more than ${maxDocuments} documents are referred to` });
    for (let at = 0; at < fresh.length; at += maxAtOnce)
      await Promise.all(fresh.slice(at, at + maxAtOnce).map(readOne));
    next = fresh.flatMap((name) => {
      const file = read.get(name);
      if (file && 'value' in file) return referencedFiles(file.value, name, filesBeside);
      return [];
    });
  }
  return { named: (file, from) => filesBeside.named(file, from), read };
}

/** A reference without and after its `#`. */
export function splitReference(reference: string): { readonly file: string; readonly fragment: string } {
  const at = reference.indexOf('#');
  if (at < 0) return { file: reference, fragment: '' };
  return { file: reference.slice(0, at), fragment: reference.slice(at + 1) };
}

/** The names of the documents that a value refers to. Values that YAML repeats are visited once. */
function referencedFiles(value: unknown, from: string, filesBeside: Beside): readonly string[] {
  const files = new Set<string>();
  const visited = new Set<object>();
  const open = [value];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null || visited.has(node)) continue;
    visited.add(node);
    const { $ref: reference } = node as { $ref?: unknown };
    if (typeof reference === 'string') files.add(splitReference(reference).file);
    for (const member of Object.values(node)) open.push(member);
  }
  return [...files].flatMap((file) => {
    const led = file === '' ? { why: 'it is this document' } : filesBeside.named(file, from);
    if ('name' in led && led.name !== '') return [led.name];
    return [];
  });
}
