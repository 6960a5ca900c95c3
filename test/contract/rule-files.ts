import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rule } from '../../packages/contract/src/rules/rule.ts';

const root = join(import.meta.dirname, '../..');
const definitions = 'packages/contract/src/rules';

/** Paths of a rule's definition, explanation and broken server in the repository. */
export interface RuleFiles {
  readonly rule: string;
  readonly explanation: string;
  readonly broken: string;
}

/** The files of each rule. @throws Error if a file is missing or ambiguous. */
export async function filesOf(rules: readonly Rule[]): Promise<ReadonlyMap<string, RuleFiles>> {
  const defined = await Promise.all(
    sources(definitions).map(async (path) => [path, await idsOf(path)] as const),
  );
  const explanations = texts(definitions, '.md');
  const broken = texts('test/broken');
  return new Map(
    rules.map(({ id }) => [
      id,
      {
        rule: only(id, defined, (ids) => ids.has(id)),
        explanation: only(id, explanations, (text) => text.includes(`## ${id}\n`)),
        broken: only(id, broken, (text) => new RegExp(`^ *'${id}( [^']*)?':`, 'm').test(text)),
      },
    ]),
  );
}

/** The ids of the rules that a module exports, single or in lists. */
async function idsOf(path: string): Promise<ReadonlySet<string>> {
  const exported: unknown[] = Object.values(await import(join(root, path)));
  return new Set(exported.flat().flatMap((value) => (isRule(value) ? [value.id] : [])));
}

function isRule(value: unknown): value is Rule {
  return typeof value === 'object' && value !== null && 'id' in value && 'fix' in value;
}

function texts(folder: string, extension = '.ts'): readonly (readonly [path: string, text: string])[] {
  return sources(folder, extension).map((path) => [path, readFileSync(join(root, path), 'utf8')]);
}

function sources(folder: string, extension = '.ts'): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(extension))
    .toSorted()
    .map((path) => `${folder}/${path}`);
}

function only<Content>(
  id: string,
  files: readonly (readonly [path: string, content: Content])[],
  has: (content: Content) => boolean,
): string {
  const [found, ...others] = files.filter(([, content]) => has(content)).map(([path]) => path);
  if (found === undefined || others.length > 0)
    throw new Error(`${id}: expected in one file, found in: ${[found, ...others].join(' ')}`);
  return found;
}
