import { parseDirectory } from '../model/names.ts';
import { parseSomeText } from '../model/text.ts';
import { defaultToolName } from './defaults.ts';
import type { Question, Switch, Switches } from './model.ts';
import { type PackageManager, packageManagers } from './package-managers.ts';
import { oneOf, type ToolParts, toolQuestions } from './tool.ts';

/** The answers one by one, as flags and prompts give them. */
export interface CreateParts extends ToolParts {
  readonly directory: string;
  /** Name of a profile that ships, or path of a file. */
  readonly platform: string;
  readonly packageManager: PackageManager;
}

type CreateQuestion<T, Given = string> = Question<T, CreateParts, Given>;

const directory: CreateQuestion<string> = {
  flag: { syntax: '[directory]', description: 'where the project is made; its last part names the package' },
  prompt: { message: 'Where shall the project be?', placeholder: './my-tool' },
  initial: () => 'my-tool',
  parse: (text) => parseDirectory(text),
  replay: (path) => [path.startsWith('-') ? `./${path}` : path],
};

const tool: CreateQuestion<string> = {
  ...toolQuestions.tool,
  initial: (given) => defaultToolName(given.directory),
};

const platform: CreateQuestion<string> = {
  flag: {
    syntax: '--platform <name>',
    description: 'marketplace profile: generic, context, or the path of your own (JSON or YAML)',
  },
  prompt: { message: 'For which marketplace?' },
  initial: () => 'generic',
  parse: (text) => parseSomeText(text, '--platform', 'Write generic, context or the path of a profile.'),
  replay: (name) => (name === 'generic' ? [] : ['--platform', name]),
};

const packageManager: CreateQuestion<PackageManager | null> = {
  flag: {
    syntax: '--package-manager <name>',
    description: 'npm, pnpm or yarn; otherwise the one that runs the command',
    choices: packageManagers,
  },
  prompt: { message: 'Which package manager?' },
  initial: () => null,
  parse: (text) => oneOf(packageManagers, text, '--package-manager'),
  replay: (name) => (name === null ? [] : ['--package-manager', name]),
};

/** Every question of `create-market-mcp`, in the order in which they are asked. */
export const createQuestions = {
  directory,
  ...toolQuestions,
  tool,
  platform,
  packageManager,
} as const;

/** Its switches, by the name under which commander reports them. */
export const createSwitches = {
  yes: {
    syntax: '-y, --yes',
    description: 'take the default wherever no flag answers; never ask',
    initial: false,
  },
  json: { syntax: '--json', description: 'print one JSON object; never ask', initial: false },
  dryRun: { syntax: '--dry-run', description: 'name the files, write nothing', initial: false },
  install: {
    syntax: '--no-install',
    description: 'do not install packages (nor build or check)',
    initial: true,
  },
  git: { syntax: '--no-git', description: 'do not make a git repository', initial: true },
  check: { syntax: '--no-check', description: 'do not run the self-check', initial: true },
  force: {
    syntax: '--force',
    description: 'write into a directory that holds files; those that you have changed are not written over',
    initial: false,
  },
  overwrite: {
    syntax: '--overwrite',
    description: 'with --force: also write over files that you have changed or made',
    initial: false,
  },
} as const satisfies { readonly [name: string]: Switch };

export type CreateSwitches = Switches<typeof createSwitches>;
