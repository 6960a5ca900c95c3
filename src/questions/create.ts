import { fault, listed, pass, refuse } from '../spec/fault.ts';
import { formatFields, parseFields } from '../spec/field-language.ts';
import type { Field, Result, ToolSpec } from '../spec/model.ts';
import { parseDirectory, parseToolName } from '../spec/names.ts';
import { parseSomeText } from '../spec/text.ts';
import { defaultDescription, defaultInput, defaultOutput, defaultToolName } from './defaults.ts';
import type { Question, Switch } from './model.ts';
import { type PackageManager, packageManagers } from './package-managers.ts';

type Returns = ToolSpec['returns'];

/** The answers one by one, as flags and prompts give them. */
export interface CreateParts {
  readonly directory: string;
  readonly tool: string;
  readonly description: string;
  readonly input: readonly Field[];
  readonly output: readonly Field[];
  readonly returns: Returns;
  /** Path of a spec file, `-` for standard input. In place of the five before. */
  readonly spec: string;
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
  flag: { syntax: '--tool <name>', description: 'name of the tool, such as get_gas_price' },
  prompt: { message: 'What is the tool called?', placeholder: 'get_gas_price' },
  initial: (given) => defaultToolName(given.directory),
  parse: (text) => parseToolName(text),
  replay: (name) => ['--tool', name],
};

const description: CreateQuestion<string> = {
  flag: {
    syntax: '--description <text>',
    description: 'what it returns and when to use it; agents choose by it',
  },
  prompt: {
    message: 'What does it return, and when should an agent use it?',
    placeholder: 'Returns … Use it when …',
  },
  initial: (given) => defaultDescription(given.tool ?? tool.initial(given), given.output, given.returns),
  parse: (text) => parseSomeText(text, '--description', 'Write: Returns …. Use it when ….'),
  replay: (text) => ['--description', text],
};

const input: CreateQuestion<readonly Field[], readonly string[]> = {
  flag: {
    syntax: '--input <field>',
    description: "a parameter: 'symbol:string=BTC Trading pair', 'limit?:integer(1..100)=10 …'; repeatable",
    repeatable: true,
  },
  prompt: { message: 'What does the tool take?' },
  initial: (given) => (given.output === undefined ? defaultInput : []),
  parse: (texts) => parseFields(texts, '--input'),
  replay: (fields) => formatFields(fields).flatMap((text) => ['--input', text]),
};

const output: CreateQuestion<readonly Field[], readonly string[]> = {
  flag: {
    syntax: '--output <field>',
    description:
      "a field of the answer: 'price:number Price in USD', 'tags:string[]', 'quote.bid:number'; repeatable",
    repeatable: true,
  },
  prompt: { message: 'What does the tool return?' },
  initial: () => defaultOutput,
  parse: (texts) =>
    texts.length === 0
      ? refuse(
          fault(
            '--output',
            undefined,
            'an answer has at least one field',
            "Write 'price:number Price in USD'.",
          ),
        )
      : parseFields(texts, '--output'),
  replay: (fields) => formatFields(fields).flatMap((text) => ['--output', text]),
};

const returns: CreateQuestion<Returns> = {
  flag: {
    syntax: '--returns <shape>',
    description: 'record: one answer; list: `items`, each with the output fields',
    choices: ['record', 'list'],
  },
  prompt: { message: 'One record or a list?' },
  initial: () => 'record',
  parse: (text) => oneOf(['record', 'list'], text, '--returns'),
  replay: (shape) => (shape === 'record' ? [] : ['--returns', shape]),
};

const spec: CreateQuestion<string> = {
  flag: {
    syntax: '--spec <file>',
    description:
      'JSON or YAML in place of the flags above: tool specs or MCP tool definitions, - for standard input',
  },
  prompt: { message: 'Which spec file?' },
  initial: () => '-',
  parse: (text) => parseSomeText(text, '--spec', 'Write the path of a JSON or YAML file, or -.'),
  replay: (path) => ['--spec', path],
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
  tool,
  description,
  input,
  output,
  returns,
  spec,
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
  force: { syntax: '--force', description: 'write over files that are in the way', initial: false },
} as const satisfies { readonly [name: string]: Switch };

export type CreateSwitches = { readonly [name in keyof typeof createSwitches]: boolean };

function oneOf<T extends string>(allowed: readonly T[], text: string, where: string): Result<T> {
  const match = allowed.find((value) => value === text.trim());
  return match === undefined
    ? refuse(fault(where, text, 'is none of the choices', `Write ${listed(allowed)}.`))
    : pass(match);
}
