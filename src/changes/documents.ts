import { CommandError, orCommandError } from 'market-mcp-contract/command';
import type { DefinitionChange } from '../model/tool-model.ts';
import { type CommonFileAnswers, planCommonFiles, projectContext } from '../plan/plan-project.ts';
import { distinctVariables } from '../plan/plan-sources.ts';
import type { FileSet, TemplateSet } from '../plan/planned-file.ts';
import type { Manifest, ManifestAnswers } from '../project/manifest/manifest.ts';
import type { Project } from '../project/opened-project.ts';
import { isAsWritten, textAt } from '../project/read/edited-files.ts';
import { encodeText, inStyle, sha256, withLineFeeds } from '../project/read/file-text.ts';
import { withVariables } from '../project/source/sources.ts';
import { render } from '../render/render.ts';
import { mergeTexts } from '../system/git.ts';
import { recordedAnswers, writtenFirst } from './upgrade/common-files.ts';
import { mergePackage } from './upgrade/merge-package.ts';

/** Files that name the variables, packages and targets of a project. */
const documents = ['README.md', 'DEPLOY.md', 'AGENTS.md', 'package.json', 'src/main.ts'];
const examples = '.env.example';

/** The changed documents, and those that cannot be changed. */
export interface DocumentChanges {
  readonly files: FileSet;
  /** Text that an author has to add to a document. */
  readonly left: readonly Omit<DefinitionChange, 'tool'>[];
  /** What the manifest records of those that their author has edited: the text of the template. */
  readonly records: Manifest['files'];
}

/**
 * Renders the documents for other answers and merges them into the author's versions. A deleted
 * document is not restored; one that cannot be merged is not changed.
 *
 * @param advice what the author has to do in a document that is not changed; undefined: nothing
 * @throws CommandError `SOURCES_EDITED` if package.json, which would be changed, is not JSON
 */
export async function documentChanges(
  { directory, manifest, profile }: Project,
  next: (answers: CommonFileAnswers) => Partial<CommonFileAnswers>,
  advice: (text: string, path: string) => string | undefined,
  templates: TemplateSet,
): Promise<DocumentChanges> {
  const recorded = recordedAnswers(manifest, profile);
  const read = (path: string) => textAt(directory, path);
  const documentsFor = (tools: readonly string[]) => renderDocuments({ ...recorded, tools }, templates);
  const base = {
    ...recorded,
    tools: writtenFirst(manifest, (tools) => documentsFor(tools).get('README.md')),
  };
  const before = renderDocuments(base, templates);
  const after = renderDocuments({ ...base, ...next(base) }, templates);
  const files = new Map<string, { content: Uint8Array; owner: 'yours' }>();
  const left: Omit<DefinitionChange, 'tool'>[] = [];
  // What further variables add to the examples is not merged, but added by `sourceFiles`.
  const knownNames = (base.variables ?? []).map(({ name }) => name);
  const mergesExamples = (next(base).variables ?? []).every(({ name }) => knownNames.includes(name));
  for (const path of mergesExamples ? [...documents, examples] : documents) {
    const [from, to, ours] = [before.get(path), after.get(path), read(path)];
    if (from === undefined || to === undefined || from === to || ours === undefined) continue;
    const text = await mergedDocument(path, from, withLineFeeds(ours), to);
    if (text !== undefined) {
      files.set(path, { content: inStyle(ours, text), owner: 'yours' });
      continue;
    }
    const reason = advice(ours, path);
    if (reason !== undefined) left.push({ path, what: 'was left as you edited it', why: reason });
  }
  const records = [...after]
    .filter(([path, text]) => {
      const hash = Object.hasOwn(manifest.files, path) ? manifest.files[path]?.sha256 : undefined;
      const isPristine = isAsWritten(encodeText(read(path) ?? ''), hash);
      return hash !== undefined && text !== before.get(path) && !isPristine;
    })
    .map(([path, text]) => [path, { sha256: sha256(text), owner: 'yours' as const }]);
  return { files, left, records: Object.fromEntries(records) };
}

/** Undefined if the versions of a document cannot be merged. */
async function mergedDocument(
  path: string,
  base: string,
  ours: string,
  theirs: string,
): Promise<string | undefined> {
  if (path === 'package.json') return mergedPackage(base, ours, theirs);
  return mergedText(base, ours, theirs);
}

/** Undefined if they cannot be merged: there is a conflict, or no git. */
async function mergedText(base: string, ours: string, theirs: string): Promise<string | undefined> {
  if (base === ours) return theirs;
  const merged = await orCommandError(() => mergeTexts(base, ours, theirs, 'theirs'));
  if (merged instanceof CommandError || merged.conflicts.length > 0) return undefined;
  return merged.text;
}

/** Undefined if there is a conflict. */
function mergedPackage(base: string, ours: string, theirs: string): string | undefined {
  try {
    const merged = mergePackage(base, ours, theirs);
    if (merged.ours === merged.theirs) return merged.ours;
    return undefined;
  } catch (error) {
    const message = `package.json: ${(error as Error).message}`;
    throw new CommandError('SOURCES_EDITED', message, 'Correct it: it must be valid JSON.', { cause: error });
  }
}

function renderDocuments(answers: CommonFileAnswers, templates: TemplateSet): ReadonlyMap<string, string> {
  const planned = planCommonFiles(projectContext(answers), templates).filter(({ path }) =>
    [...documents, examples].includes(path),
  );
  return new Map(
    [...render(planned, templates)].map(([path, { content }]) => {
      const text = new TextDecoder().decode(content);
      return [path, path === examples ? withVariables(text, answers.variables ?? []) : text];
    }),
  );
}

/** The variables of a project and of further APIs, each once. */
export function allVariables(
  recordedVariables: ManifestAnswers['variables'],
  apis: Parameters<typeof distinctVariables>[0],
): ManifestAnswers['variables'] {
  const ownVariables = recordedVariables ?? [];
  // The declarations of known variables stay unchanged, in their order.
  const everyVariable = [...ownVariables, ...distinctVariables(apis), ...ownVariables];
  if (recordedVariables === undefined && apis.length === 0) return undefined;
  return [...new Map(everyVariable.map((variable) => [variable.name, variable])).values()];
}
