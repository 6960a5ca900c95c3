import { combineResults, pass, reject } from '../model/input-error.ts';
import { parseSomeText } from '../model/text.ts';
import { type ExampleValue, formatExampleValue, parseExampleValue } from '../tools/example-values.ts';
import type { FlagAnswer, Question } from './model.ts';

/** What tools start from instead of answers about each, as flags and prompts return it. */
export interface StartParts {
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

type StartQuestion<T, Given = string> = Question<T, StartParts, Given>;

const fromSample: StartQuestion<readonly string[], readonly string[]> = {
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
    return reject('--from-sample', twice, 'is given twice', 'Give each file only once.');
  },
  replay: (paths) => paths.flatMap((path) => ['--from-sample', path]),
};

const fromOpenapi: StartQuestion<string> = {
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

const operation: StartQuestion<readonly string[], readonly string[]> = {
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

const search: FlagAnswer<string, StartParts> = {
  flag: {
    syntax: '--search <text>',
    description:
      'only list the operations of the document whose method, path, id or summary contains each of these words',
  },
  initial: () => '',
  parse: (text) => parseSomeText(text, '--search', "Write one or more words, such as 'get repos'."),
  replay: (text) => ['--search', text],
};

const fromUrl: StartQuestion<string> = {
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
    return reject('--from-url', text, 'is not an http or https URL', hint);
  },
  replay: (url) => ['--from-url', url],
};

const spec: StartQuestion<string> = {
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

const only: StartQuestion<readonly string[], readonly string[]> = {
  ...toolNames(
    '--only',
    'use only this tool of the --spec file or --from-url server; separate several by commas; repeatable',
  ),
  prompt: { message: 'Which tools?' },
};
const except = toolNames(
  '--except',
  'omit this tool of the --spec file or --from-url server; separate several by commas; repeatable',
);

const example: StartQuestion<readonly ExampleValue[], readonly string[]> = {
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
function toolNames(
  flag: string,
  description: string,
): FlagAnswer<readonly string[], StartParts, readonly string[]> {
  return {
    flag: { syntax: `${flag} <tool>`, description, repeatable: true },
    initial: () => [],
    parse(texts) {
      const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
      if (!names.includes('')) return pass([...new Set(names)]);
      return reject(flag, texts.join(' '), 'contains an empty name', `Write ${flag} get_price,get_fee.`);
    },
    replay: (names) => (names.length === 0 ? [] : [flag, names.join(',')]),
  };
}

/** Every question about what tools start from, in the order in which they are asked. */
export const startQuestions = {
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
