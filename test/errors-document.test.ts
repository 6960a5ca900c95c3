import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CommandError } from '../packages/contract/src/command/command-error.ts';

const root = join(import.meta.dirname, '..');
const document = join(root, 'docs/errors.md');

/** An error with a code, where it is written in the source. */
interface Written {
  readonly code: string;
  /** With `…` for each value. */
  readonly message: string;
  readonly path: string;
}

const literal = String.raw`(?:\`((?:[^\`\\]|\\.)*)\`|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")`;
/** `new CommandError('CODE', `, `{ code: 'CODE', message: `, `endInIncident('CODE', `: what precedes a message. */
const written = /(?:new \w*Error\(|endInIncident\(|\{\s*code:)\s*'([A-Z][A-Z_]+)',\s*(?:message: )?/g;
/** `'message'`, `isRead ? 'message' : 'other message'`, or the name of a constant or parameter. */
const message = new RegExp(String.raw`^(?:\w+\s*\?\s*${literal}\s*:\s*${literal}|${literal}|(\w+))`);

describe('docs/errors.md', () => {
  it('lists every code of an error, with its exit code, words and places', async () => {
    await expect(page()).toMatchFileSnapshot(document);
  });

  it.each(['src', 'packages/contract/src', 'packages/runtime/src'])(
    'misses no code of an error in %s',
    (folder) => {
      const all = sources(folder).flatMap(([, text]) =>
        [...text.matchAll(/new \w*Error\(\s*'([A-Z][A-Z_]+)'/g)].map(([, code = '']) => code),
      );
      const listed = new Set(errorsIn(folder).map(({ code }) => code));
      expect(all.filter((code) => !listed.has(code))).toEqual([]);
      expect(all.length).toBeGreaterThan(5);
    },
  );
});

function page(): string {
  const programs = rows(
    [...errorsIn('src'), ...errorsIn('packages/contract/src')],
    (code) => `${new CommandError(code, '', '').exitCode}`,
  );
  return `# Error codes

Generated from the source by \`npx vitest run --project unit test/errors-document.test.ts -u\`. \`…\` stands for a value.

## The programs

\`--json\` prints the code. The exit codes are explained in [architecture.md](architecture.md).

| code | exit code | message | where |
| --- | --- | --- | --- |
${programs.join('\n')}

## A generated server

A call that fails names one of these in \`error\` (C§2.2), beside the codes that a tool gives to \`fail\`.

| code | message | where |
| --- | --- | --- |
${rows(errorsIn('packages/runtime/src')).join('\n')}
`;
}

/** One row for each code: its different messages and its files. */
function rows(errors: readonly Written[], more?: (code: string) => string): readonly string[] {
  return [...new Set(errors.map(({ code }) => code))].toSorted().map((code) => {
    const same = errors.filter((error) => error.code === code);
    const unique = (texts: readonly string[]) =>
      [...new Set(texts)].filter((text) => text !== '').join('<br>');
    const cells = [
      `\`${code}\``,
      ...(more ? [more(code)] : []),
      unique(same.map(({ message }) => message.replaceAll('|', '\\|'))),
      unique(same.map(({ path }) => `\`${path}\``)),
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

function errorsIn(folder: string): readonly Written[] {
  return sources(folder).flatMap(([path, text]) =>
    [...text.matchAll(written)].flatMap(({ 0: start, index, 1: code = '' }) => {
      const end = index + start.length;
      return messagesAt(text, end).map((words) => ({ code, message: withoutValues(words), path }));
    }),
  );
}

/** The messages that the expression at a place of a source may have; an empty one if they are computed. */
function messagesAt(source: string, at: number): readonly string[] {
  const [, ...groups] = message.exec(source.slice(at)) ?? [];
  const name = groups.pop();
  const literals = groups.filter((text) => text !== undefined);
  return literals.length > 0 ? literals : [constantNamed(name, source.slice(0, at))];
}

/** The text of the constant, or the default of the parameter, that is nearest to the end of the source. */
function constantNamed(name: string | undefined, source: string): string {
  const declared = [...source.matchAll(new RegExp(String.raw`\b${name} =\s*${literal}`, 'g'))].at(-1);
  return declared?.slice(1).find((text) => text !== undefined) ?? '';
}

/** A template string with `…` for what it inserts. */
function withoutValues(template: string): string {
  let text = '';
  let depth = 0;
  for (let at = 0; at < template.length; at++) {
    if (template.startsWith('${', at)) depth++;
    else if (depth > 0 && template[at] === '{') depth++;
    if (depth === 0) text += template[at] === '\\' ? (template[++at] ?? '') : template[at];
    else if (template[at] === '}' && --depth === 0) text += '…';
    if (template.startsWith('${', at)) at++;
  }
  return text;
}

function sources(folder: string): readonly (readonly [path: string, text: string])[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .toSorted()
    .map((path) => [`${folder}/${path}`, readFileSync(join(root, folder, path), 'utf8')] as const);
}
