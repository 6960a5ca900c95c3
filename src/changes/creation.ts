import { isDeepStrictEqual } from 'node:util';
import { pass, type Result, reject } from 'market-mcp-contract/command';
import { mcp, type PlatformProfile, platforms, resolvePlatform } from 'market-mcp-contract/platforms';
import type { Api, CheckedTool } from '../import/imported-tool.ts';
import { type PreparedTools, prepareTools } from '../import/prepare.ts';
import { projectName } from '../model/names.ts';
import { planProject, type Start } from '../plan/plan-project.ts';
import { apisOf, distinctVariables } from '../plan/plan-sources.ts';
import type { FileSet, TemplateSet } from '../plan/planned-file.ts';
import { type Manifest, type ManifestAnswers, withManifest } from '../project/manifest/manifest.ts';
import { ownPackages } from '../project/package/own-package.ts';
import { readTemplates } from '../project/package/templates.ts';
import { lockDirectory } from '../project/read/workspace.ts';
import type { CreateAnswers } from '../questions/create-answers.ts';
import type { PackageManager } from '../questions/package-managers.ts';
import { type ToolAnswers, toolAnswers } from '../questions/tool-answers.ts';
import { render } from '../render/render.ts';
import { detectPackageManager } from '../system/detect.ts';
import { installedVersion } from '../system/package-manager.ts';
import type { ImportRun } from './import-run.ts';
import { importTools, secretsOf } from './import-tools.ts';
import { projectExistsError } from './project-context.ts';

/** A planned project: everything that is decided before the first write. */
export interface Creation {
  readonly answers: CreateAnswers;
  readonly run: ImportRun;
  readonly packageManager: PackageManager;
  readonly prepared: PreparedTools;
  readonly files: FileSet;
  /** The values of keys, by variable. They are written to `.env` only. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Plans a project from answers, up to its finished files. Sends the requests of the answers, and writes nothing. */
export async function planCreation(answers: CreateAnswers, run: ImportRun): Promise<Result<Creation>> {
  const profile = await projectProfile(answers.platform);
  if (!profile.ok) return profile;
  const completeToolAnswers = toolAnswers(answers);
  const importedTools = await importTools(completeToolAnswers, profile.value, run);
  if (!importedTools.ok) return importedTools;
  const preparedTools = prepareTools(importedTools.value, profile.value);
  if (!preparedTools.ok) return preparedTools;
  const { value: prepared } = preparedTools;
  const start = manifestStarts[completeToolAnswers.kind];
  const packageManager = answers.packageManager ?? detectPackageManager(answers.directory);
  const files = await projectFiles(answers, profile.value, packageManager, start, prepared.tools);
  return pass({ answers, run, packageManager, prepared, files, secrets: secretsOf(importedTools.value) });
}

/**
 * Fails before a request is sent if a directory has a project with other tools, addresses or paths. With `--from-request`, these
 * are known before anything is sent. The plan finds other differences, and those of other sources.
 *
 * @throws CommandError `TARGET_NOT_EMPTY`
 */
export async function requireSameRequests(
  directory: string,
  existingProject: Manifest,
  answers: CreateAnswers,
  run: ImportRun,
): Promise<void> {
  const completeToolAnswers = toolAnswers(answers);
  if (completeToolAnswers.kind !== 'request') return;
  const { parseRequests, requestToolNames } = await import('./request-tools.ts');
  const { recordingPath } = await import('../import/api-recordings.ts');
  const requests = await parseRequests(completeToolAnswers, run);
  // The plan reports these errors.
  if (!requests.ok) return;
  const toolNames = requestToolNames(requests.value, completeToolAnswers);
  const hasSameTools = isDeepStrictEqual(toolNames, existingProject.answers.tools);
  const hasSameRequests = requests.value.every(
    ({ call }) =>
      hasAddress(existingProject, call.api) && Object.hasOwn(existingProject.files, recordingPath(call)),
  );
  if (!hasSameTools || !hasSameRequests) throw projectExistsError(directory, existingProject);
}

/** Whether a project calls an API at this address. */
function hasAddress({ answers }: Manifest, { address }: Api): boolean {
  return answers.variables?.some((variable) => isDeepStrictEqual(variable, address)) === true;
}

/** The profile of `--platform`, if a project can be created for it. */
async function projectProfile(platform: string): Promise<Result<PlatformProfile>> {
  const profile = await resolvePlatform(platform);
  if (!profile.ok || profile.value !== mcp) return profile;
  const message = 'has no payment rules, so it cannot be used for a new project';
  const hint = 'Choose generic or context. check --platform mcp checks any server.';
  return reject('--platform', mcp.name, message, hint);
}

/** The files of a project, with its manifest. */
async function projectFiles(
  { directory, deploy: targets = [] }: CreateAnswers,
  profile: PlatformProfile,
  packageManager: PackageManager,
  start: Start,
  tools: readonly CheckedTool[],
): Promise<FileSet> {
  const version = packageManager === 'yarn' ? await installedVersion(packageManager) : null;
  const manager = { packageManager, packageManagerVersion: version ?? undefined };
  const name = projectName(directory);
  const templates = readTemplates();
  const { specifiers: packages, files: packageFiles } = ownPackages();
  const planned = planProject(
    { name, profile, ...manager, lockDirectory: lockDirectory(directory), tools, packages, start, targets },
    templates,
  );
  const base = new Map([...render(planned, templates), ...packageFiles]);
  const apis = apisOf(tools);
  const apiFileSet = apis.length === 0 ? new Map() : await apiFiles(tools, base, templates, profile);
  const files = apiFileSet.size === 0 ? base : sortFiles(new Map([...base, ...apiFileSet]));
  return withManifest(files, {
    platform: profile.name,
    answers: {
      name,
      ...manager,
      profile: recordedProfile(profile),
      tools: tools.map(({ definition }) => definition.name),
      start: start === 'blank' ? undefined : start,
      variables: apis.length > 0 ? distinctVariables(apis) : undefined,
      ...chosenFields(tools),
      targets: targets.length > 0 ? targets : undefined,
    },
  });
}

/** The files that tools with an API need, and those of the project that they extend. */
async function apiFiles(
  tools: readonly CheckedTool[],
  files: FileSet,
  templates: TemplateSet,
  { smoke }: PlatformProfile,
): Promise<FileSet> {
  const textOf = (path: string) => {
    const file = files.get(path);
    return file && new TextDecoder().decode(file.content);
  };
  const { sourceFiles } = await import('../project/source/sources.ts');
  return sourceFiles(tools, textOf, templates, smoke);
}

/** The `start` in the manifest. A curl request counts as `openapi`: both call an API. */
const manifestStarts = {
  fields: 'blank',
  spec: 'blank',
  sample: 'sample',
  request: 'openapi',
  openapi: 'openapi',
  url: 'url',
} as const satisfies { readonly [kind in ToolAnswers['kind']]: Start };

/** The `fields` in the manifest: the recorded ones, and the chosen fields of these tools. */
export function chosenFields(
  tools: readonly CheckedTool[],
  recordedFields: ManifestAnswers['fields'] = {},
): Pick<ManifestAnswers, 'fields'> {
  const fieldsByTool = tools
    .filter(({ fields = [] }) => fields.length > 0)
    .map(({ definition, fields = [] }) => [definition.name, fields] as const);
  if (fieldsByTool.length === 0) return {};
  return { fields: { ...recordedFields, ...Object.fromEntries(fieldsByTool) } };
}

/** Sorted by path, as in `planProject`. */
function sortFiles(files: FileSet): FileSet {
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A built-in profile is recorded by its name. */
function recordedProfile(profile: PlatformProfile): string | PlatformProfile {
  return platforms.includes(profile) ? profile.name : profile;
}
