import { CommandError } from 'market-mcp-contract/command';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { compareVersions } from 'market-mcp-contract/report';
import { toolFile } from '../../model/names.ts';
import { commandsOf } from '../../plan/package-manager-commands.ts';
import { programPackage, runtimePackage, version } from '../../plan/package-versions.ts';
import {
  type CommonFileAnswers,
  type PackageSpecifiers,
  planCommonFiles,
  projectContext,
} from '../../plan/plan-project.ts';
import { planToolsIndex } from '../../plan/plan-tools-index.ts';
import type { FileSet } from '../../plan/planned-file.ts';
import { type Manifest, manifestFile } from '../../project/manifest/manifest.ts';
import { presentProfile } from '../../project/manifest/project-profile.ts';
import { newerProgram, ownPackages } from '../../project/package/own-package.ts';
import { archivedVersions, type Release, readRelease } from '../../project/package/releases.ts';
import { readTemplates } from '../../project/package/templates.ts';
import { decodeText, encodeText, sha256 } from '../../project/read/file-text.ts';
import { withSourceDependencies, withVariables } from '../../project/source/sources.ts';
import { standardTargets, targetNames } from '../../questions/targets.ts';
import { render } from '../../render/render.ts';

/** The files of a project that belong to no tool. */
export interface CommonFiles {
  /** As the recorded version writes them. */
  readonly base: FileSet;
  /** As this version writes them. */
  readonly theirs: FileSet;
}

/**
 * Renders the common files of both versions from the answers in a manifest.
 *
 * @param tools files of the tools, in the order of the list
 * @param release the recorded version; undefined if it is this one
 * @param lockDirectory path to the root of the workspace that the project belongs to
 * @throws CommandError `UNKNOWN_VERSION`, `NEWER_PROJECT`, and the errors of `presentProfile`.
 */
export function commonFilesOf(
  manifest: Manifest,
  tools: readonly string[],
  release = releaseOf(manifest),
  lockDirectory?: string,
): CommonFiles {
  const profile = presentProfile(manifest);
  const carried = ownPackages();
  const names = manifest.answers.tools.length > 0 ? manifest.answers.tools : tools;
  const recorded = { ...recordedAnswers(manifest, profile), lockDirectory, tools: names };
  const answers = { ...recorded, packages: carried.specifiers };
  const writtenAnswers = {
    ...recorded,
    profile: release ? profileThen(manifest, release) : profile,
  };
  const before = (toolOrder: readonly string[]) =>
    frameFiles({ ...writtenAnswers, tools: toolOrder }, tools, release);
  const first = writtenFirst(manifest, (toolOrder) => before(toolOrder).get('README.md')?.content);
  return {
    base: before(first),
    theirs: new Map([...frameFiles({ ...answers, tools: first }, tools), ...carried.files]),
  };
}

/** The answers in a manifest, with defaults for those that it leaves out. */
export function recordedAnswers(manifest: Manifest, profile: PlatformProfile): CommonFileAnswers {
  const packages = recordedPackages(manifest);
  return { start: 'blank', variables: null, targets: [], ...manifest.answers, profile, packages };
}

/** Undefined if this version wrote the project. */
function releaseOf({ template }: Manifest): Release | undefined {
  if (template === version) return undefined;
  if (compareVersions(template, version) > 0) {
    throw new CommandError(
      'NEWER_PROJECT',
      `this project was created by version ${template}, but this program is version ${version}`,
      `Use version ${template} or later of the program.`,
    );
  }
  const release = readRelease(template);
  if (release) return release;
  const carried = archivedVersions();
  throw new CommandError(
    'UNKNOWN_VERSION',
    `${manifestFile}: this program cannot upgrade from version ${template}`,
    carried.length === 0
      ? `This copy was packed for one project and contains no earlier version. ${newerProgram()}`
      : `It can upgrade from ${carried.join(', ')}. Upgrade to one of them first.`,
  );
}

/** The frame as a release writes it, or as this version does. */
function frameFiles(answers: CommonFileAnswers, tools: readonly string[], release?: Release): FileSet {
  const templates = release?.templates ?? readTemplates();
  const context = { ...projectContext(answers), ...(release && contextThen(answers, release)) };
  const index = planToolsIndex(tools);
  const planned = [...planCommonFiles(context, templates), index];
  const { variables } = answers;
  const files = render(planned, templates);
  if (variables === null) return files;
  const withApis = [
    ...editFile(files, '.env.example', (text) => withVariables(text, variables)),
    ...editFile(files, 'package.json', (text) => withSourceDependencies(text, release?.facts.sources)),
  ];
  return new Map([...files, ...withApis]);
}

function editFile(files: FileSet, path: string, change: (text: string) => string): FileSet {
  const file = files.get(path);
  return new Map(file ? [[path, { ...file, content: encodeText(change(decodeText(file.content))) }]] : []);
}

/** Values of a version that the templates of its release read. */
function contextThen(
  { packageManager, packageManagerVersion, packages, targets }: CommonFileAnswers,
  { facts, templates }: Release,
): Partial<ReturnType<typeof projectContext>> {
  const documents = ['README.md', 'DEPLOY.md'].map((name) => templates.get(`project/${name}.hbs.js`));
  const sections = documents.map((template) => decodeText(template ?? new Uint8Array())).join('\n');
  return {
    // The compiled template has a section for each target. It also names the standard ones, which each project has.
    furtherTargets: targetNames.filter(
      (name) => ![...standardTargets, ...targets].includes(name) && sections.includes(`"${name}"`),
    ),
    dependencies: {
      ...(targets.includes('redis') && facts.redisDependencies),
      [runtimePackage]: packages.runtime,
    },
    devDependencies: { ...facts.devDependencies, [programPackage]: packages.program },
    packageManager: commandsOf(packageManager, packageManagerVersion ?? null, facts.packageManagerCommands),
  };
}

function profileThen(manifest: Manifest, { facts }: Release): PlatformProfile {
  const { profile } = manifest.answers;
  if (typeof profile !== 'string') return profile;
  return facts.platforms.find(({ name }) => name === profile) ?? presentProfile(manifest);
}

/** Our packages in package.json as the recorded version wrote it. */
function recordedPackages({ files, template }: Manifest): PackageSpecifiers {
  const specifierOf = (name: string) => {
    const path = Object.keys(files).find((path) => path.startsWith(`vendor/${name}-`));
    return path === undefined ? template : `file:${path}`;
  };
  return { program: specifierOf(programPackage), runtime: specifierOf(runtimePackage) };
}

/** The tools, first the one that README uses as its example: the one with which `readme` gives the recorded text. */
export function writtenFirst(
  { answers, files }: Manifest,
  readme: (tools: readonly string[]) => Uint8Array | string | undefined,
): readonly string[] {
  const sorted = answers.tools.toSorted((a, b) => (toolFile(a) < toolFile(b) ? -1 : 1));
  const orders = [
    sorted,
    ...answers.tools.map((name) => [name, ...answers.tools.filter((toolName) => toolName !== name)]),
  ];
  const isWritten = (order: readonly string[]) => sha256(readme(order) ?? '') === files['README.md']?.sha256;
  return orders.find((order) => order.length > 0 && isWritten(order)) ?? answers.tools;
}
