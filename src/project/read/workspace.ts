import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { attempt, isObject } from 'market-mcp-contract/json';
import { parsedJson } from './file-text.ts';
import { isEntry, parentsOf, readRegular } from './read-files.ts';

/**
 * Returns the root of the workspace that a directory belongs to: the nearest directory above it whose workspaces include it, and which
 * is not above the repository. The lock file of all members lies there.
 */
export function workspaceRoot(directory: string): string | undefined {
  const member = resolve(directory);
  if (isRepository(member)) return undefined;
  const ancestors = parentsOf(dirname(member));
  const repositoryIndex = ancestors.findIndex(isRepository);
  const candidates = repositoryIndex === -1 ? ancestors : ancestors.slice(0, repositoryIndex + 1);
  return candidates.find((root) => isMember(workspacesOf(root), relative(root, member).split(sep).join('/')));
}

/** The path from a directory to the root of its workspace, such as `../..`; undefined if it belongs to none. */
export function lockDirectory(directory: string): string | undefined {
  const root = workspaceRoot(directory);
  if (root === undefined) return undefined;
  return relative(resolve(directory), root).split(sep).join('/');
}

function isRepository(directory: string): boolean {
  return isEntry(join(directory, '.git'));
}

/** The patterns of the members, as npm, Yarn and Bun read them in package.json, and pnpm in its own file. */
function workspacesOf(root: string): readonly string[] {
  const textIn = (file: string) => attempt(() => readRegular(join(root, file)).toString('utf8'), '');
  if (existsSync(join(root, 'pnpm-workspace.yaml'))) return packagesIn(textIn('pnpm-workspace.yaml'));
  const manifest: unknown = attempt(() => parsedJson(textIn('package.json')), undefined);
  const workspaces = isObject(manifest) ? manifest.workspaces : undefined;
  const patterns = isObject(workspaces) ? workspaces.packages : workspaces;
  if (Array.isArray(patterns)) return patterns.filter((pattern) => typeof pattern === 'string');
  return [];
}

/** The list `packages` of pnpm-workspace.yaml, in either form of YAML. A parser of YAML would slow every start. */
function packagesIn(yaml: string): readonly string[] {
  const [, inline, block = ''] =
    /^packages:[ \t]*(?:\[([^\]]*)\]|(?:#.*)?((?:\r?\n(?:[ \t]*(?:-|#).*|[ \t]*))*))/m.exec(yaml) ?? [];
  const entries =
    inline === undefined ? block.split('\n').filter((line) => /^\s*-/.test(line)) : inline.split(',');
  return entries
    .map((entry) =>
      entry
        .replace(/^\s*-/, '')
        .replace(/\s#.*$/, '')
        .trim()
        .replaceAll(/^(['"])(.*)\1$/g, '$2'),
    )
    .filter((pattern) => pattern !== '');
}

function isMember(patterns: readonly string[], path: string): boolean {
  const matches = (pattern: string) => expressionOf(pattern).test(path);
  const excluding = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  const including = patterns.filter((pattern) => !pattern.startsWith('!'));
  return including.some(matches) && !excluding.some(matches);
}

/** A pattern of directories: `*` is one name or a part of it, `**` any number of names, `{a,b}` a choice. */
function expressionOf(pattern: string): RegExp {
  const relativePattern = pattern.replace(/^\.?\//, '').replace(/\/$/, '');
  const source = relativePattern.replaceAll(
    /\*\*\/|\*\*|[*?{},]|[^\w/]/g,
    (part) => globParts[part] ?? `\\${part}`,
  );
  return attempt(() => new RegExp(`^${source}$`), /^\b$/);
}

const globParts: { readonly [part: string]: string } = {
  '**/': '(?:.*/)?',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
  '{': '(?:',
  '}': ')',
  ',': '|',
};
