import { type Effect, effectOfName, effects, titleOf } from '../contract/effect.ts';
import { formatFields, parseFields } from '../fields/language.ts';
import { combineResults, inputError, listed, pass, refuse } from '../model/input-error.ts';
import type { Field, Result, ToolSpec } from '../model/model.ts';
import { parseToolName } from '../model/names.ts';
import { parseSomeText } from '../model/text.ts';
import { type ExampleValue, formatExampleValue, parseExampleValue } from '../tools/example-values.ts';
import { formatMeta, type MetaSetting, parseMeta } from '../tools/meta.ts';
import { defaultDescription, defaultInput, defaultOutput, defaultToolName } from './defaults.ts';
import type { Question } from './model.ts';

type Returns = ToolSpec['returns'];

/** The answers about one tool, as flags and prompts return them. */
export interface ToolParts {
  readonly tool: string;
  readonly description: string;
  /** Display name; only a flag, never asked for. */
  readonly title: string;
  /** The effect of a call, which determines the annotations. */
  readonly effect: Effect;
  readonly input: readonly Field[];
  readonly output: readonly Field[];
  readonly returns: Returns;
  /** The tool's `_meta`; has a flag, but no prompt. */
  readonly meta: readonly MetaSetting[];
  /** Paths of sample answers, `-` for standard input. Replaces `output` and `returns`. */
  readonly fromSample: readonly string[];
  /** Path or URL of an OpenAPI document, `-` for standard input. Replaces the description of a tool. */
  readonly fromOpenapi: string;
  /** The operations of the document that become tools; without any, all are listed. */
  readonly operation: readonly string[];
  /** Words that filter the printed list of operations; nothing is created. */
  readonly search: string;
  /** Endpoint of a running MCP server, to which its tools are forwarded. Replaces what describes a tool. */
  readonly fromUrl: string;
  /** Path of a spec file, `-` for standard input. Replaces all of the above; `output` may complete one of its tools. */
  readonly spec: string;
  /** Names of the tools of the spec file to use; by default all. */
  readonly only: readonly string[];
  /** Names of the tools to omit. */
  readonly except: readonly string[];
  /** Examples of its parameters. */
  readonly example: readonly ExampleValue[];
}

type ToolQuestion<T, Given = string> = Question<T, ToolParts, Given>;

const tool: ToolQuestion<string> = {
  flag: { syntax: '--tool <name>', description: 'name of the tool, such as get_gas_price' },
  prompt: { message: 'What is the tool called?', placeholder: 'get_gas_price' },
  initial: () => defaultToolName(undefined),
  parse: (text) => parseToolName(text),
  replay: (name) => ['--tool', name],
};

const description: ToolQuestion<string> = {
  flag: {
    syntax: '--description <text>',
    description: 'what the tool returns and when to use it; agents choose tools by it',
  },
  prompt: {
    message: 'What does the tool return, and when should an agent use it?',
    placeholder: 'Returns … Use it when …',
  },
  initial: ({ tool: name = tool.initial({}), output: fields = [], returns }) =>
    defaultDescription(
      name,
      fields.map((field) => field.name),
      returns,
    ),
  parse: (text) => parseSomeText(text, '--description', 'Write: Returns …. Use it when ….'),
  replay: (text) => ['--description', text],
};

const title: ToolQuestion<string> = {
  flag: {
    syntax: '--title <text>',
    description: 'display name of the tool (default: derived from the name)',
  },
  prompt: { message: 'What is its display name?' },
  initial: ({ tool: name = tool.initial({}) }) => titleOf(name),
  parse: (text) => parseSomeText(text, '--title', 'Write a few words, such as "Gas price".'),
  replay: (text) => ['--title', text],
};

const effectNames = Object.keys(effects) as readonly Effect[];

const effect: ToolQuestion<Effect> = {
  flag: {
    syntax: '--effect <kind>',
    description:
      'what a call does: reads; computes (asks nobody); adds; changes or deletes; acts (sends, pays). It sets the annotations',
    choices: effectNames,
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
      ? refuse(
          inputError(
            '--output',
            undefined,
            'a result needs at least one field',
            "Add one, such as 'price:number Price in USD'.",
          ),
        )
      : parseFields(texts, '--output'),
  replay: (fields) => formatFields(fields).flatMap((text) => ['--output', text]),
};

const returns: ToolQuestion<Returns> = {
  flag: {
    syntax: '--returns <shape>',
    description: 'record: one record with the output fields; list: `items`, each with the output fields',
    choices: ['record', 'list'],
  },
  prompt: { message: 'One record or a list?' },
  initial: () => 'record',
  parse: (text) => oneOf(['record', 'list'], text, '--returns'),
  replay: (shape) => (shape === 'record' ? [] : ['--returns', shape]),
};

const meta: ToolQuestion<readonly MetaSetting[], readonly string[]> = {
  flag: {
    syntax: '--meta <key=value>',
    description:
      "a hint for the platform: 'surface=answer', 'rateLimit.maxRequestsPerMinute=60', 'pricing.executeUsd=0.01'; repeatable",
    repeatable: true,
  },
  prompt: { message: 'Which hints should the platform get?' },
  initial: () => [],
  parse: (texts) => parseMeta(texts, '--meta'),
  replay: (settings) => settings.flatMap((setting) => ['--meta', formatMeta(setting)]),
};

const fromSample: ToolQuestion<readonly string[], readonly string[]> = {
  flag: {
    syntax: '--from-sample <file>',
    description:
      'a JSON answer of the API, instead of --output: it defines types and sample data; - for standard input; repeatable',
    repeatable: true,
  },
  prompt: { message: 'Which files contain answers of the API?' },
  initial: () => [],
  parse: (paths) => {
    const parsed = combineResults(
      paths.map((path) => parseSomeText(path, '--from-sample', 'Write the path of a JSON file, or -.')),
    );
    if (!parsed.ok || new Set(parsed.value).size === paths.length) return parsed;
    const twice = parsed.value.find((path, i) => parsed.value.indexOf(path) < i);
    return refuse(inputError('--from-sample', twice, 'is given twice', 'Give each file only once.'));
  },
  replay: (paths) => paths.flatMap((path) => ['--from-sample', path]),
};

const fromOpenapi: ToolQuestion<string> = {
  flag: {
    syntax: '--from-openapi <file>',
    description:
      'path or URL of an OpenAPI document (JSON or YAML); its operations become tools that call the API; without --operation, they are listed',
  },
  prompt: { message: 'Which OpenAPI document?' },
  initial: () => '-',
  parse: (text) => parseSomeText(text, '--from-openapi', 'Write the path or URL of an OpenAPI document.'),
  replay: (path) => ['--from-openapi', path],
};

const operation: ToolQuestion<readonly string[], readonly string[]> = {
  flag: {
    syntax: '--operation <id>',
    description: "an operation of the document: its operationId, or 'GET /path'; repeatable",
    repeatable: true,
  },
  prompt: { message: 'Which operations?' },
  initial: () => [],
  parse: (names) =>
    combineResults(
      names.map((name) => parseSomeText(name, '--operation', "Write an operationId, or 'GET /path'.")),
    ),
  replay: (names) => names.flatMap((name) => ['--operation', name]),
};

const search: ToolQuestion<string> = {
  flag: {
    syntax: '--search <text>',
    description:
      'only list the operations of the document whose method, path, id or summary contains each of these words',
  },
  prompt: { message: 'Which operations are listed?' },
  initial: () => '',
  parse: (text) => parseSomeText(text, '--search', "Write one or more words, such as 'get repos'."),
  replay: (text) => ['--search', text],
};

const fromUrl: ToolQuestion<string> = {
  flag: {
    syntax: '--from-url <endpoint>',
    description:
      'endpoint of a running MCP server: its tools are taken over, and calls forwarded to it; --only names some, and those that write',
  },
  prompt: { message: 'Where is the MCP server?', placeholder: 'https://tools.example.com/mcp' },
  initial: () => '-',
  parse(text) {
    if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return pass(text.trim());
    const hint = 'Write the endpoint of an MCP server: https://tools.example.com/mcp.';
    return refuse(inputError('--from-url', text, 'is not an http or https URL', hint));
  },
  replay: (url) => ['--from-url', url],
};

const spec: ToolQuestion<string> = {
  flag: {
    syntax: '--spec <file>',
    description:
      'file with tool specs or MCP tool definitions (JSON or YAML), instead of the flags above; - for standard input',
  },
  prompt: { message: 'Which spec file?' },
  initial: () => '-',
  parse: (text) => parseSomeText(text, '--spec', 'Write the path of a JSON or YAML file, or -.'),
  replay: (path) => ['--spec', path],
};

const only = toolNames(
  '--only',
  'use only this tool of the --spec file or --from-url server; separate several by commas; repeatable',
);
const except = toolNames(
  '--except',
  'omit this tool of the --spec file or --from-url server; separate several by commas; repeatable',
);

const example: ToolQuestion<readonly ExampleValue[], readonly string[]> = {
  flag: {
    syntax: '--example <tool.parameter=value>',
    description:
      "an example value for a required parameter of the --spec file: 'get_price.symbol=BTC'; repeatable",
    repeatable: true,
  },
  prompt: { message: 'With which values should the marketplace call the tools?' },
  initial: () => [],
  parse: (texts) => combineResults(texts.map((text) => parseExampleValue(text, '--example'))),
  replay: (values) => values.flatMap((value) => ['--example', formatExampleValue(value)]),
};

/** A flag that names tools of a list by any name. */
function toolNames(flag: string, description: string): ToolQuestion<readonly string[], readonly string[]> {
  return {
    flag: { syntax: `${flag} <tool>`, description, repeatable: true },
    prompt: { message: 'Which tools?' },
    initial: () => [],
    parse(texts) {
      const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
      if (!names.includes('')) return pass([...new Set(names)]);
      return refuse(
        inputError(flag, texts.join(' '), 'contains an empty name', `Write ${flag} get_price,get_fee.`),
      );
    },
    replay: (names) => (names.length === 0 ? [] : [flag, names.join(',')]),
  };
}

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
  fromSample,
  fromOpenapi,
  operation,
  search,
  fromUrl,
  spec,
  only,
  except,
  example,
} as const;

/** One of the allowed words of a flag. */
export function oneOf<T extends string>(allowed: readonly T[], text: string, where: string): Result<T> {
  const match = allowed.find((value) => value === text.trim());
  return match === undefined
    ? refuse(inputError(where, text, 'is not one of the choices', `Write ${listed(allowed)}.`))
    : pass(match);
}
