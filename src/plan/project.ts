import type { PlatformProfile } from '../contract/profile.ts';
import type { ApiVariable, ImportedTool } from '../import/model.ts';
import { toolFile } from '../model/names.ts';
import type { PackageManager } from '../questions/package-managers.ts';
import type { Ownership, PlannedFile, TemplateSet } from './model.ts';
import { type PackageManagerCommands, packageManagerCommands } from './package-manager.ts';
import { apisOf, kitDirectory, variablesOf } from './sources.ts';
import { planTool } from './tool.ts';
import { planToolsIndex, toolsIndex } from './tools-index.ts';
import { dependencies, devDependencies, sourceDependencies, version } from './versions.ts';

/** Everything that determines the content of a project. */
export interface ProjectAnswers extends Omit<CommonFileAnswers, 'tools' | 'variables'> {
  readonly tools: readonly ImportedTool[];
}

/** Everything that determines the files that belong to no tool. */
export interface CommonFileAnswers {
  /** The package's name, which is also the server's. */
  readonly name: string;
  readonly profile: PlatformProfile;
  readonly packageManager: PackageManager;
  /** Names of the tools, in order. */
  readonly tools: readonly string[];
  /** The specifier of this program in package.json: an exact version, or `file:…`. */
  readonly ownPackage: string;
  readonly start: Start;
  /** Variables of the APIs that tools call; null if no tool calls one and the project lacks the source kit. */
  readonly variables: readonly ApiVariable[] | null;
}

/** What the first tools of a project were made from: nothing or a spec, sample answers, an API, a running MCP server. */
export type Start = 'blank' | 'sample' | 'openapi' | 'url';

/** The context of the templates under `templates/project/`. */
export interface TemplateContext {
  readonly name: string;
  readonly description: string;
  /** Version of this program and thereby of the runtime. */
  readonly version: string;
  readonly dependencies: { readonly [name: string]: string };
  readonly dependencyNames: readonly string[];
  readonly devDependencies: { readonly [name: string]: string };
  readonly packageManager: PackageManagerCommands;
  readonly profile: PlatformProfile;
  readonly listing: ListingContext;
  /** Whether the project contains this program as a file in `vendor/`. */
  readonly vendored: boolean;
  /** The tool that README uses as its example. */
  readonly firstTool: { readonly name: string; readonly file: string };
  readonly start: { readonly isSample: boolean; readonly asksApi: boolean; readonly forwards: boolean };
  readonly kit: KitContext;
}

/** The source kit and its variables; the lists are empty if no tool calls an API. */
export interface KitContext {
  readonly isPresent: boolean;
  readonly dependencyNames: readonly string[];
  readonly variables: readonly {
    readonly name: string;
    /** Without a full stop. */
    readonly text: string;
    readonly isOptional: boolean;
    readonly fallback: string | null;
  }[];
  /** Names of the variables that the server needs to start. */
  readonly required: readonly string[];
}

/** The registration form as text (C§2.5). */
export interface ListingContext {
  readonly where: string;
  readonly categories: string;
  readonly price: string;
  readonly stake: string;
  readonly sections: readonly string[];
  readonly forbids: readonly string[];
}

const root = 'project/';

/**
 * The files of a new project, sorted by path. Pure: the same answers and templates give the same plan.
 *
 * @param templates only their paths are used.
 */
export function planProject(answers: ProjectAnswers, templates: TemplateSet): readonly PlannedFile[] {
  const tools = answers.tools.map(({ definition }) => definition.name);
  const asksApi = answers.tools.some(({ call }) => call !== undefined);
  const variables = asksApi ? variablesOf(apisOf(answers.tools)) : null;
  const files = planCommonFiles(projectContext({ ...answers, tools, variables }), templates);
  const index = planToolsIndex(tools.map(toolFile));
  return [...files, index, ...answers.tools.flatMap(planTool)].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * The files of a project that belong to no tool, without the list of tools and the source kit.
 *
 * @param templates of this version, or of an earlier one.
 */
export function planCommonFiles(
  context: Pick<TemplateContext, 'packageManager'>,
  templates: TemplateSet,
): readonly PlannedFile[] {
  return [...templates.keys()]
    .filter((template) => belongs(template, context.packageManager.name))
    .map((template) => planFile(template, context));
}

/** The context of the project's templates. */
export function projectContext({
  name,
  profile,
  packageManager,
  tools,
  ownPackage,
  start,
  variables,
}: CommonFileAnswers): TemplateContext {
  const entries = tools.map((name) => ({ name, file: toolFile(name) }));
  const [firstTool] = entries;
  if (!firstTool) throw new Error('a server has at least one tool');
  return {
    name,
    version,
    description: `MCP tool server: ${entries.map((tool) => tool.name).join(', ')}.`,
    dependencies,
    dependencyNames: Object.keys(dependencies),
    devDependencies: { ...devDependencies, 'create-market-mcp': ownPackage },
    packageManager: packageManagerCommands[packageManager],
    profile,
    listing: listingContext(profile),
    vendored: ownPackage.startsWith('file:'),
    firstTool,
    start: {
      isSample: start === 'sample',
      asksApi: start === 'openapi' || start === 'url',
      forwards: start === 'url',
    },
    kit: kitContext(variables),
  };
}

function kitContext(given: CommonFileAnswers['variables']): KitContext {
  const variables = given ?? [];
  return {
    isPresent: given !== null,
    dependencyNames: given === null ? [] : Object.keys(sourceDependencies),
    variables: variables.map(({ name, text, optional = false, fallback = null }) => ({
      name,
      text: text.replace(/\.$/, ''),
      isOptional: optional,
      fallback,
    })),
    required: variables
      .filter(({ kind, optional, fallback }) => (kind === 'secret' ? !optional : fallback === undefined))
      .map(({ name }) => name),
  };
}

/** The list of tools and the source kit are planned separately. */
function belongs(template: string, packageManager: PackageManager): boolean {
  if (!template.startsWith(root)) return false;
  if (targetPath(template) === toolsIndex) return false;
  if (template.startsWith(root + kitDirectory)) return false;
  return template !== `${root}.yarnrc.yml` || packageManager === 'yarn';
}

function planFile(template: string, context: object): PlannedFile {
  const rendered = renderedEnding.test(template);
  const path = targetPath(template);
  return { path, template, ...(rendered && { context }), owner: ownerOf(path) };
}

/** A template of this version, or a compiled one of an earlier version. */
const renderedEnding = /\.hbs(\.js)?$/;

/** npm leaves `.gitignore` out of a package, so such files are stored as `_gitignore`. */
function targetPath(template: string): string {
  return template
    .slice(root.length)
    .replace(renderedEnding, '')
    .replace(/(^|\/)_(gitignore|dockerignore)$/, '$1.$2');
}

function ownerOf(path: string): Ownership {
  if (path === 'src/platform.ts') return 'generated';
  return /^(start\.js$|src\/(server\/|(config|main|process|variables)\.ts$))/.test(path) ? 'sealed' : 'yours';
}

function listingContext({ title, listing }: PlatformProfile): ListingContext {
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
