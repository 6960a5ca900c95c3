import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { compareVersions } from 'market-mcp-contract/report';
import type { ApiVariable, CheckedTool } from '../import/imported-tool.ts';
import { toolFile } from '../model/names.ts';
import type { PackageManager } from '../questions/package-managers.ts';
import { copies, type DeployTarget, filesOf, standardTargets, targetNames } from '../questions/targets.ts';
import {
  commandsOf,
  imageCommands,
  inWorkspace,
  type PackageManagerCommands,
} from './package-manager-commands.ts';
import {
  devDependencies,
  imageNode,
  programPackage,
  redisDependencies,
  repositoryName,
  runtimePackage,
  sourceDependencies,
} from './package-versions.ts';
import { apisOf, distinctVariables } from './plan-sources.ts';
import { planToolsIndex, toolsIndex } from './plan-tools-index.ts';
import type { PlannedFile, TemplateSet } from './planned-file.ts';
import { shutdownTimes } from './shutdown-times.ts';
import { planTool } from './tool-files.ts';

/** Everything that determines the content of a project. */
export interface ProjectAnswers extends Omit<CommonFileAnswers, 'tools' | 'variables'> {
  readonly tools: readonly CheckedTool[];
}

/** Everything that determines the files that belong to no tool. */
export interface CommonFileAnswers {
  /** The package's name, which is also the server's. */
  readonly name: string;
  readonly profile: PlatformProfile;
  readonly packageManager: PackageManager;
  /** The version of the package manager that was found, where the project names it: of Yarn. */
  readonly packageManagerVersion?: string;
  /** The path to the root of the workspace that has the lock file, such as `../..`; absent outside of a workspace. */
  readonly lockDirectory?: string | undefined;
  /** Names of the tools, in order. */
  readonly tools: readonly string[];
  readonly packages: PackageSpecifiers;
  readonly start: Start;
  /** Variables of the APIs that tools call; null if no tool calls one. */
  readonly variables: readonly ApiVariable[] | null;
  /** Deployment targets in addition to the standard ones. */
  readonly targets: readonly DeployTarget[];
}

/** Our packages in a project's package.json, each as an exact version or as `file:…`. */
export interface PackageSpecifiers {
  readonly program: string;
  readonly runtime: string;
}

/** The source of the first tools of a project: nothing or a spec, sample answers, an API, a running MCP server. */
export type Start = 'blank' | 'sample' | 'openapi' | 'url';

/** The part of a platform's profile that a server reads: see `Platform` of the runtime. */
export type ServerPlatform = ReturnType<typeof serverPlatform>;

const root = 'project/';

/**
 * The files of a new project, sorted by path. Pure: the same answers and templates give the same plan.
 *
 * @param templates only their paths are used.
 */
export function planProject(answers: ProjectAnswers, templates: TemplateSet): readonly PlannedFile[] {
  const tools = answers.tools.map(({ definition }) => definition.name);
  const asksApi = answers.tools.some(({ call }) => call !== undefined);
  const variables = asksApi ? distinctVariables(apisOf(answers.tools)) : null;
  const files = planCommonFiles(projectContext({ ...answers, tools, variables }), templates);
  const index = planToolsIndex(tools.map(toolFile));
  return [...files, index, ...answers.tools.flatMap(planTool)].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * The files of a project that belong to no tool, without the list of tools.
 *
 * @param templates of this version, or of an earlier one.
 */
export function planCommonFiles(context: CommonFileContext, templates: TemplateSet): readonly PlannedFile[] {
  return [...templates.keys()].flatMap((template) =>
    outputPaths(template)
      .filter((path) => isInProject(path, context))
      .map((path) => planFile(path, template, context)),
  );
}

/** The choices that decide which files a project has. */
interface CommonFileContext {
  readonly packageManager: PackageManagerCommands;
  readonly targets: { readonly [name in DeployTarget]: boolean };
}

/** The context of the templates under `templates/project/`. */
export function projectContext({
  name,
  profile,
  packageManager,
  packageManagerVersion,
  lockDirectory,
  tools,
  packages,
  start,
  variables,
  targets,
}: CommonFileAnswers) {
  const entries = tools.map((name) => ({ name, file: toolFile(name) }));
  const [firstTool] = entries;
  if (!firstTool) throw new Error('a server has at least one tool');
  const commands = commandsOf(packageManager, packageManagerVersion ?? null);
  return {
    name,
    dnsLabel: dnsLabel(name),
    description: `MCP tool server: ${entries.map((tool) => tool.name).join(', ')}.`,
    dependencies: dependenciesFor(targets, packages),
    devDependencies: { ...devDependencies, [programPackage]: packages.program },
    packageManager: lockDirectory === undefined ? commands : inWorkspace(commands, lockDirectory),
    image: imageCommands(commands, lockDirectory !== undefined),
    isWorkspaceMember: lockDirectory !== undefined,
    /** The member `packageManager` of package.json. */
    packageManagerSpec:
      packageManagerVersion === undefined ? null : `${packageManager}@${packageManagerVersion}`,
    /** Whether Yarn refuses packages of the last day, unless they are approved. */
    hasAgeGate: packageManagerVersion !== undefined && compareVersions(packageManagerVersion, '4.10.0') >= 0,
    nodeVersion: imageNode,
    /** Whether the action that sets Node up can cache the packages: npm's cache needs no other program. */
    isCached: packageManager === 'npm',
    profile,
    platform: serverPlatform(profile),
    shutdown: shutdownTimes(profile.limits.callMs),
    /** Whether MCP 2026-07-28 is served. */
    modern: profile.protocol?.modern !== 'off',
    listing: listingContext(profile),
    /** Whether the project contains this program and its runtime as files in `vendor/`. */
    vendored: packages.program.startsWith('file:'),
    /** The Action of this version. */
    action: `${repositoryName}@v${packages.program}`,
    /** The tool that README uses as its example. */
    firstTool,
    start: {
      isSample: start === 'sample',
      asksApi: start === 'openapi' || start === 'url',
      forwards: start === 'url',
    },
    kit: kitContext(variables),
    targets: targetContext(targets),
    furtherTargets: targetNames.filter((name) => !targetContext(targets)[name]),
    /** Names of the variables without which the server does not start, besides SESSION_SECRET and PLATFORM_AUDIENCE. */
    required: [...platformVariables(profile), ...kitContext(variables).required],
  };
}

function dependenciesFor(targets: readonly DeployTarget[], { runtime }: PackageSpecifiers) {
  const dependencies: { [name: string]: string } = { [runtimePackage]: runtime };
  if (targets.includes('redis')) return { ...redisDependencies, ...dependencies };
  return dependencies;
}

/** The nearest name of a Service: a label of DNS that starts with a letter (RFC 1035). */
function dnsLabel(name: string): string {
  const label = name.replace(/[^a-z0-9]+/g, '-');
  return (/^[a-z]/.test(label) ? label : `mcp-${label}`).slice(0, 63).replace(/-$/, '');
}

/** Names of the variables that must replace members that a profile lacks. */
function platformVariables({ token }: PlatformProfile): readonly string[] {
  const issuer = token.issuer ? [] : ['PLATFORM_ISSUER'];
  if (token.jwksUrl) return issuer;
  return [...issuer, 'PLATFORM_JWKS_URL'];
}

function targetContext(chosenTargets: readonly DeployTarget[]): CommonFileContext['targets'] {
  const allTargets = [...standardTargets, ...chosenTargets];
  const entries = targetNames.map((name) => [name, allTargets.includes(name)]);
  return Object.fromEntries(entries);
}

/** What tools with an API need; the lists are empty if no tool calls one. */
function kitContext(variableAnswers: CommonFileAnswers['variables']) {
  const variables = variableAnswers ?? [];
  return {
    isPresent: variableAnswers !== null,
    dependencyNames: variableAnswers === null ? [] : Object.keys(sourceDependencies),
    variables: variables.map(({ name, text, optional = false, fallback = null }) => ({
      name,
      /** Without a full stop. */
      text: text.replace(/\.$/, ''),
      isOptional: optional,
      fallback,
    })),
    /** Names of the variables that the server needs to start. */
    required: variables
      .filter(({ kind, optional, fallback }) => (kind === 'secret' ? !optional : fallback === undefined))
      .map(({ name }) => name),
  };
}

/** The paths of the files that a template becomes in a project; none for a template of a tool or an API. */
function outputPaths(template: string): readonly string[] {
  if (!template.startsWith(root)) return [];
  const path = outputPath(template);
  return [path, ...(copies[path] ?? [])];
}

/** Whether a project has a file. The list of tools is planned separately. */
function isInProject(
  path: string,
  { packageManager: { name: packageManager }, targets }: CommonFileContext,
): boolean {
  if (path === toolsIndex) return false;
  const target = targetNames.find((name) => filesOf([name]).includes(path));
  if (target !== undefined && !targets[target]) return false;
  return path !== '.yarnrc.yml' || packageManager === 'yarn';
}

function planFile(path: string, template: string, context: object): PlannedFile {
  const owner = path === 'src/platform.ts' ? 'generated' : 'yours';
  return { path, template, ...(renderedEnding.test(template) && { context }), owner };
}

/** A template of a checkout, or a compiled template of the package or of an archive. */
const renderedEnding = /\.hbs(\.js)?$/;

/** npm leaves `.gitignore` out of a package, so such files are stored as `_gitignore`. */
function outputPath(template: string): string {
  return template
    .slice(root.length)
    .replace(renderedEnding, '')
    .replace(/(^|\/)_(gitignore|dockerignore)$/, '$1.$2');
}

/** The members of a profile that the server reads. */
export function serverPlatform({ token, limits }: PlatformProfile) {
  const { audience: _, claims: _claims, ...read } = token;
  return { token: read, limits: { callMs: limits.callMs } };
}

/** The registration form as text (C§2.5). */
function listingContext({ title, listing }: PlatformProfile) {
  const { price, stake } = listing;
  const limit = price.maximum === null ? '' : `, at most ${price.maximum}`;
  return {
    where: listing.url ?? `the registration form of ${title}`,
    categories: listing.categories ? listing.categories.join(', ') : 'one of those the form offers',
    price: `in ${price.currency} for one call; 0 is allowed${limit}`,
    stake: stakeInWords(stake),
    sections: listing.descriptionSections,
    forbids: listing.descriptionForbids,
  };
}

function stakeInWords(stake: PlatformProfile['listing']['stake']): string {
  const amount =
    stake.perPriceUnit > 0
      ? `the greater of ${stake.minimum} ${stake.currency} and ${stake.perPriceUnit} × the price`
      : `${stake.minimum} ${stake.currency}`;
  return `${amount}; refundable, ${stake.withdrawalDelayDays} days after you ask for it`;
}
