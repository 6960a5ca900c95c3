import { CommandError } from 'market-mcp-contract/command';
import { memoize } from 'market-mcp-contract/json';
import { planToolsIndex, toolsIndex } from '../../plan/plan-tools-index.ts';
import type { ProjectFile, TemplateSet } from '../../plan/planned-file.ts';
import { render } from '../../render/render.ts';
import { meaningOf, nodesIn, type Tree, treeOf } from '../../typescript/tree.ts';
import type { Project } from '../opened-project.ts';
import { inStyle, sha256, withLineFeeds } from './file-text.ts';

/** The files that a list of tools imports from its own directory, without extension, in the order of the list. */
export const importsIn = memoize((index: string): readonly string[] => {
  const tree = treeOf(index);
  if (!tree) return [...index.matchAll(/\bfrom\s*['"]\.\/([^'"]+)\.ts['"]/g)].map(([, file = '']) => file);
  const places = new Map(
    [...nodesIn(tree.program)]
      .filter((node) => node.type === 'Identifier')
      .map((node) => [node.name, node.start] as const),
  );
  const files = [...importNames(tree)].flatMap(([name, specifier]) => {
    const file = /^\.\/(.+)\.ts$/.exec(specifier)?.[1];
    if (file === undefined) return [];
    return [{ file, place: places.get(name) ?? 0 }];
  });
  return files.toSorted((a, b) => a.place - b.place).map(({ file }) => file);
});

/**
 * The next list of tools. Byte order mark and line ends of the current one are kept.
 *
 * @param files in order, without extension
 * @throws CommandError `INDEX_EDITED` if the current list contains something that the new one could not.
 */
export function nextToolsIndex(
  project: Project,
  templates: TemplateSet,
  files: readonly string[],
): ProjectFile {
  requireGenerated(project, templates);
  const text = renderToolsIndex([...new Set(files)], templates);
  return { content: inStyle(project.index, text), owner: 'generated' };
}

function renderToolsIndex(files: readonly string[], templates: TemplateSet): string {
  const [file] = render([planToolsIndex(files)], templates).values();
  return new TextDecoder().decode(file?.content);
}

/** Refuses a list that an author has edited. */
function requireGenerated({ directory, index, manifest, tools }: Project, templates: TemplateSet): void {
  const generated = renderToolsIndex(importsIn(index), templates);
  const isRecorded = sha256(withLineFeeds(index)) === manifest.files[toolsIndex]?.sha256;
  const lost = isRecorded ? [] : linesOnlyIn(index, generated);
  const isSame = isRecorded || sameMeaning(index, generated);
  const takenOut = tools.filter(({ path, isServed }) => !isServed && Object.hasOwn(manifest.files, path));
  if (isSame && takenOut.length === 0) return;
  const [out] = takenOut;
  const difference = out
    ? `it no longer lists ${out.path}, although the file exists`
    : `it was edited by hand: ${lost[0] ?? 'its order or its names differ'}`;
  throw new CommandError(
    'INDEX_EDITED',
    `${toolsIndex} is generated from its directory, and ${difference}`,
    out
      ? `In ${directory} add it to the list again, or move the file out of the directory.`
      : 'Move your addition to another file, and run the command again.',
  );
}

/** Whether two lists of tools are equivalent, regardless of format, quotes and import names. */
export function sameMeaning(a: string, b: string): boolean {
  return namelessMeaning(a) === namelessMeaning(b);
}

/** Replaces each import name by its module. */
function namelessMeaning(text: string): string {
  const tree = treeOf(text);
  return meaningOf(text, tree && importNames(tree));
}

/** The names of default imports, with their modules. */
function importNames({ program }: Tree): ReadonlyMap<string, string> {
  return new Map(
    program.body.flatMap((statement) => {
      if (statement.type !== 'ImportDeclaration') return [];
      const { specifiers, source } = statement;
      return specifiers
        .filter(({ type }) => type === 'ImportDefaultSpecifier')
        .map(({ local }) => [local.name, source.value] as const);
    }),
  );
}

function linesOnlyIn(text: string, otherText: string): readonly string[] {
  const meaning = (line: string) => line.replace(/[\s;,'"]/g, '');
  const meanings = new Set(otherText.split('\n').map(meaning));
  return withLineFeeds(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !meanings.has(meaning(line)));
}
