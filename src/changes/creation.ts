import { pass, type Result, reject } from 'market-mcp-contract/command';
import { mcp, type PlatformProfile, platforms, resolvePlatform } from 'market-mcp-contract/platforms';
import type { ImportedTool } from '../import/imported-tool.ts';
import { type Prepared, prepareTools } from '../import/prepare.ts';
import { projectName } from '../model/names.ts';
import { planProject, type Start } from '../plan/plan-project.ts';
import { apisOf, distinctVariables } from '../plan/plan-sources.ts';
import type { FileSet } from '../plan/planned-file.ts';
import { type ManifestAnswers, withManifest } from '../project/manifest/manifest.ts';
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

/** A project in memory: everything that is decided before the first write. */
export interface Creation {
  readonly answers: CreateAnswers;
  readonly run: ImportRun;
  readonly packageManager: PackageManager;
  readonly prepared: Prepared;
  readonly files: FileSet;
  /** Values of keys, for `.env` only. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Turns answers into finished files. Writes nothing. Errors of a spec or a profile are found here. */
export async function planCreation(answers: CreateAnswers, run: ImportRun): Promise<Result<Creation>> {
  const profile = await resolvePlatform(answers.platform);
  if (!profile.ok) return profile;
  if (profile.value === mcp) {
    const hint = 'Choose generic or context. check --platform mcp judges any server.';
    return reject(
      '--platform',
      mcp.name,
      'asks for no payment, so a project for it would not be checked for that',
      hint,
    );
  }
  const completeToolAnswers = toolAnswers(answers);
  const entries = await importTools(completeToolAnswers, profile.value, run);
  if (!entries.ok) return entries;
  const preparation = prepareTools(entries.value, profile.value);
  if (!preparation.ok) return preparation;

  const { prepared } = preparation;
  const packageManager = answers.packageManager ?? detectPackageManager(answers.directory);
  const version = packageManager === 'yarn' ? await installedVersion(packageManager) : null;
  const manager = { packageManager, ...(version !== null && { packageManagerVersion: version }) };
  const name = projectName(answers.directory);
  const templates = readTemplates();
  const { deploy: targets = [] } = answers;
  const start = startOf[completeToolAnswers.kind];
  const ownPackageFiles = ownPackages();
  const planned = planProject(
    {
      name,
      profile: profile.value,
      ...manager,
      lockDirectory: lockDirectory(answers.directory),
      tools: prepared.tools,
      packages: ownPackageFiles.specifiers,
      start,
      targets,
    },
    templates,
  );
  const tools = prepared.tools.map(({ definition }) => definition.name);
  const base = new Map([...render(planned, templates), ...ownPackageFiles.files]);
  const text = (path: string) => base.get(path) && new TextDecoder().decode(base.get(path)?.content);
  const apis = apisOf(prepared.tools);
  const sources: FileSet =
    apis.length === 0
      ? new Map()
      : (await import('../project/source/sources.ts')).sourceFiles(
          prepared.tools,
          text,
          templates,
          profile.value.smoke,
        );
  const files = withManifest(sources.size === 0 ? base : sortFiles(new Map([...base, ...sources])), {
    platform: profile.value.name,
    answers: {
      name,
      ...manager,
      profile: recorded(profile.value),
      tools,
      ...(start !== 'blank' && { start }),
      ...(sources.size > 0 && { variables: distinctVariables(apis) }),
      ...chosenFields(prepared.tools),
      ...(targets.length > 0 && { targets }),
    },
  });
  return pass({ answers, run, packageManager, prepared, files, secrets: secretsOf(entries.value) });
}

/** What the manifest calls that from which the first tools were made. */
const startOf = {
  fields: 'blank',
  spec: 'blank',
  sample: 'sample',
  request: 'openapi',
  openapi: 'openapi',
  url: 'url',
} as const satisfies { readonly [kind in ToolAnswers['kind']]: Start };

/** What the manifest records of the tools whose fields were chosen. */
export function chosenFields(
  tools: readonly ImportedTool[],
  before: ManifestAnswers['fields'] = {},
): Pick<ManifestAnswers, 'fields'> {
  const fieldsByTool = tools.flatMap(({ definition, fields = [] }) =>
    fields.length > 0 ? [[definition.name, fields] as const] : [],
  );
  return fieldsByTool.length === 0 ? {} : { fields: { ...before, ...Object.fromEntries(fieldsByTool) } };
}

/** Sorted by path, as in `planProject`. */
function sortFiles(files: FileSet): FileSet {
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A built-in profile is recorded by its name. */
function recorded(profile: PlatformProfile): string | PlatformProfile {
  return platforms.includes(profile) ? profile.name : profile;
}
