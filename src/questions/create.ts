import { asOperand, off, on, oneOf, reject, type Values } from 'market-mcp-contract/command';
import { isCurl } from '../import/request/curl-text.ts';
import { parseDirectory } from '../model/names.ts';
import { type PackageManager, packageManagers } from './package-managers.ts';
import { askQuestion, type Defaulted, type FlagAnswer, type Question, textFlag } from './question.ts';
import { type DeployTarget, deployFlag } from './targets.ts';
import { defaultToolName } from './tool-defaults.ts';
import { type ToolQuestionAnswers, toolQuestions } from './tool-questions.ts';

/** The answers of `create-market-mcp` by the name of the question, from flags and prompts. */
export interface CreateQuestionAnswers extends ToolQuestionAnswers {
  readonly directory: string;
  /** Name of a built-in profile, or path of a file. */
  readonly platform: string;
  readonly packageManager: PackageManager;
  readonly deploy: readonly DeployTarget[];
}

type CreateQuestion<T> = Question<T> & Defaulted<T, CreateQuestionAnswers>;

const directory: CreateQuestion<string> = {
  flag: {
    syntax: '[directory]',
    description: 'directory of the new project; its last part becomes the package name',
  },
  prompt: { message: 'Where should the project be created?', placeholder: './my-tool' },
  initial: () => 'my-tool',
  parse(text) {
    if (!isCurl(text)) return parseDirectory(text);
    const hint =
      'Write the name of a directory. The command is for --from-request, or for the question that asks for it.';
    return reject('[directory]', undefined, 'is a curl command', hint);
  },
  replay: (path) => [asOperand(path)],
};

const tool: CreateQuestion<string> = {
  ...toolQuestions.tool,
  initial: (answers) => defaultToolName(answers.directory),
};

const platform: CreateQuestion<string> = {
  ...textFlag(
    '--platform <name>',
    'profile: generic, context, claude-directory, openai-apps, or the path of your own profile (JSON or YAML)',
    'Write the name of a profile (market-mcp platforms), or the path of one.',
  ),
  prompt: { message: 'For which marketplace?' },
  initial: () => 'generic',
  replay: (name) => (name === 'generic' ? [] : ['--platform', name]),
};

const packageManager: FlagAnswer<PackageManager> = {
  flag: {
    syntax: '--package-manager <name>',
    description: 'npm, pnpm, yarn or bun (default: the one that runs the command)',
  },
  parse: (text) => oneOf(packageManagers, text, '--package-manager'),
  replay: (name) => ['--package-manager', name],
};

const answered = { directory, ...toolQuestions, tool, platform, packageManager, deploy: deployFlag } as const;

/** Every question of `create-market-mcp`, in order. */
export const createQuestions = { ...answered, ask: askQuestion(answered) } as const;

/** Its switches, by commander's names. */
export const createSwitches = {
  yes: on('-y, --yes', 'use the default for every missing flag; never ask'),
  json: on('--json', 'print one JSON object; never ask'),
  dryRun: on('--dry-run', 'list the files, write nothing'),
  install: off('--no-install', 'do not install packages, build or check'),
  git: off('--no-git', 'do not create a git repository'),
  check: off('--no-check', 'do not run the self-check'),
  force: on(
    '--force',
    'write into a directory that is not empty; files that you have changed are not overwritten',
  ),
  overwrite: on('--overwrite', 'with --force: also overwrite files that you have changed or created'),
} as const;

export type CreateSwitches = Values<typeof createSwitches>;
