import { oneOf, reject } from 'market-mcp-contract/command';
import { type Effect, effectOfName, effects, titleOf } from 'market-mcp-contract/definition';
import { formatFields, parseFields } from '../fields/language.ts';
import { parseToolName } from '../model/names.ts';
import type { Field, ToolSpec } from '../model/tool-model.ts';
import { formatMeta, type MetaSetting, parseMeta } from '../tools/meta-settings.ts';
import { type Defaulted, type FlagAnswer, type Question, textFlag, textsFlag } from './question.ts';
import { type StartQuestionAnswers, startQuestions } from './start-questions.ts';
import { defaultDescription, defaultInput, defaultOutput, defaultToolName } from './tool-defaults.ts';

type Returns = ToolSpec['returns'];

/** The answers about one tool by the name of the question, as flags and prompts return them. */
export interface ToolQuestionAnswers extends StartQuestionAnswers {
  readonly tool: string;
  /** `Returns …` of one tool, `get_repo: Returns …` of one of several. */
  readonly description: readonly string[];
  /** Display name; only a flag, never asked for. */
  readonly title: string;
  /** The effect of a call, which determines the annotations. */
  readonly effect: Effect;
  readonly input: readonly Field[];
  readonly output: readonly Field[];
  readonly returns: Returns;
  /** The tool's `_meta`; has a flag, but no prompt. */
  readonly meta: readonly MetaSetting[];
  /** Names of the questions to ask although flags answer them. */
  readonly ask: readonly string[];
}

type ToolQuestion<T, Given = string> = Question<T, Given> & Defaulted<T, ToolQuestionAnswers>;

const tool: ToolQuestion<string> = {
  flag: { syntax: '--tool <name>', description: 'name of the tool, such as get_gas_price' },
  prompt: { message: 'What is the tool called?', placeholder: 'get_gas_price' },
  initial: () => defaultToolName(undefined),
  parse: (text) => parseToolName(text),
  replay: (name) => ['--tool', name],
};

/** @param tool its name, or `the tool` */
export function descriptionQuestion(tool: string): string {
  return `What does ${tool} return, and when should an agent use it?`;
}

const description: Question<readonly string[], readonly string[]> & Defaulted<string, ToolQuestionAnswers> = {
  ...textsFlag(
    '--description <text>',
    "what the tool returns and when to use it; agents choose tools by it; for one of several tools: 'get_repo: Returns …'; repeatable",
    'Write: Returns …. Use it when ….',
  ),
  prompt: {
    message: descriptionQuestion('the tool'),
    placeholder: 'Returns … Use it when …',
  },
  initial: ({ tool: name = tool.initial({}), output: fields = [], returns }) =>
    defaultDescription(
      name,
      fields.map((field) => field.name),
      returns,
    ),
};

const title: FlagAnswer<string> & Defaulted<string, ToolQuestionAnswers> = {
  ...textFlag(
    '--title <text>',
    'display name of the tool (default: derived from the name)',
    'Write a few words, such as "Gas price".',
  ),
  initial: ({ tool: name = tool.initial({}) }) => titleOf(name),
};

const effectNames = Object.keys(effects) as readonly Effect[];

const effect: ToolQuestion<Effect> = {
  flag: {
    syntax: '--effect <kind>',
    description:
      'what a call does: reads; computes (asks nobody); adds; changes or deletes; acts (sends, pays). It sets the annotations',
  },
  prompt: { message: 'What does a call do?' },
  initial: ({ tool: name = tool.initial({}) }) => effectOfName(name),
  parse: (text) => oneOf(effectNames, text, '--effect'),
  replay: (kind) => ['--effect', kind],
};

const input: ToolQuestion<readonly Field[], readonly string[]> = {
  flag: {
    syntax: '--input <field>',
    description:
      "an input parameter: 'symbol:string=BTC Trading pair', 'limit?:integer(1..100)=10 …'; repeatable",
    repeatable: true,
  },
  prompt: { message: 'What are the inputs of the tool?' },
  initial: ({ output, fromSample }) => (output === undefined && fromSample === undefined ? defaultInput : []),
  parse: (texts) => parseFields(texts, '--input'),
  replay: (fields) => formatFields(fields).flatMap((text) => ['--input', text]),
};

const output: ToolQuestion<readonly Field[], readonly string[]> = {
  flag: {
    syntax: '--output <field>',
    description:
      "an output field: 'price:number Price in USD', 'tags:string[]', 'quote.bid:number'; repeatable",
    repeatable: true,
  },
  prompt: { message: 'What does the tool return?' },
  initial: () => defaultOutput,
  parse: (texts) =>
    texts.length === 0
      ? reject(
          '--output',
          undefined,
          'a result needs at least one field',
          "Add one, such as 'price:number Price in USD'.",
        )
      : parseFields(texts, '--output'),
  replay: (fields) => formatFields(fields).flatMap((text) => ['--output', text]),
};

const returns: ToolQuestion<Returns> = {
  flag: {
    syntax: '--returns <shape>',
    description: 'record: one record with the output fields; list: `items`, each with the output fields',
  },
  prompt: { message: 'One record or a list?' },
  initial: () => 'record',
  parse: (text) => oneOf(['record', 'list'], text, '--returns'),
  replay: (shape) => (shape === 'record' ? [] : ['--returns', shape]),
};

const meta: FlagAnswer<readonly MetaSetting[], readonly string[]> = {
  flag: {
    syntax: '--meta <key=value>',
    description:
      "a hint for the platform: 'surface=answer', 'rateLimit.maxRequestsPerMinute=60', 'pricing.executeUsd=0.01'; repeatable",
    repeatable: true,
  },
  parse: (texts) => parseMeta(texts, '--meta'),
  replay: (settings) => settings.flatMap((setting) => ['--meta', formatMeta(setting)]),
};

/** Every question about a tool, in the order in which they are asked. */
export const toolQuestions = {
  tool,
  description,
  title,
  effect,
  input,
  output,
  returns,
  meta,
  ...startQuestions,
} as const;
