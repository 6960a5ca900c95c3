import { combineResults, pass, reject } from 'market-mcp-contract/command';
import { withoutKeys } from '../import/request/curl-text.ts';
import type { SegmentInput } from '../import/request/path-segments.ts';
import { type ExampleValue, formatExampleValue, parseExampleValue } from '../tools/example-values.ts';
import { type FlagAnswer, type Question, textFlag, textsFlag } from './question.ts';

/** The answers that name the source of tools and choose from it, as flags and prompts return them. */
export interface StartQuestionAnswers {
  /** Curl commands, paths of files with one or of HAR files, `-` for standard input. Replaces `output` and `returns`. */
  readonly fromRequest: readonly string[];
  /** Number of a request of a HAR file. */
  readonly request: number;
  /** Names of arguments of a request that stay unchanged. */
  readonly constant: readonly string[];
  /** Segments of the path of a request that become arguments of the tool. */
  readonly segment: readonly SegmentInput[];
  /** Variables of the author's environment that may be sent, as the keys that requests name. */
  readonly env: readonly string[];
  /** True: send a request although it may change something; false: send nothing. */
  readonly send: boolean;
  /** Paths of sample answers, `-` for standard input. Replaces `output` and `returns`. */
  readonly fromSample: readonly string[];
  /** Path or URL of an OpenAPI document, `-` for standard input. Replaces the description of a tool. */
  readonly fromOpenapi: string;
  /** Names and values of headers for the download of the document. */
  readonly header: readonly (readonly [string, string])[];
  /** The operations of the document that become tools; without any, all are listed. */
  readonly operation: readonly string[];
  /** Words that filter the printed list of operations; nothing is created. */
  readonly search: string;
  /** The schemas of the document stay unchanged, also where its examples contradict them. */
  readonly strictSchema: boolean;
  /** Endpoint of a running MCP server, to which its tools are forwarded. Replaces what describes a tool. */
  readonly fromUrl: string;
  /** Fields of the answers to keep: `id,owner.login` of one tool, `get_repo:id,owner.login` of one of several. */
  readonly fields: readonly string[];
  /** Path of a spec file, `-` for standard input. Replaces all of the above; `output` may complete one of its tools. */
  readonly spec: string;
  /** Names of the tools of the spec file to use; by default all. */
  readonly only: readonly string[];
  /** Names of the tools to omit. */
  readonly except: readonly string[];
  /** Its tools that declare no output return their answer as text. */
  readonly outputText: boolean;
  /** Examples of its parameters. */
  readonly example: readonly ExampleValue[];
}

const requests = textsFlag(
  '--from-request <request>',
  'a curl command, or a file that holds one, or a HAR file; - for standard input: it is sent once, and becomes a tool; repeatable',
  "Write --from-request 'curl https://api.example.com/prices'.",
);
const fromRequest: Question<readonly string[], readonly string[]> = {
  ...requests,
  prompt: {
    message: 'Paste a curl command, or write the path of a file with one, or of a HAR file',
    placeholder: "curl 'https://api.example.com/quotes/{symbol=BTC}?limit=10', request.sh, or session.har",
  },
  replay: (texts, commands) => texts.flatMap((text) => ['--from-request', withoutKeys(text, commands)]),
};

const request: FlagAnswer<number> = {
  flag: {
    syntax: '--request <number>',
    description: 'the request of the HAR file; without it, they are listed',
  },
  parse: (text) =>
    /^[1-9]\d{0,5}$/.test(text.trim())
      ? pass(Number(text))
      : reject('--request', text, 'is not a number', 'Write the number of a request.'),
  replay: (number) => ['--request', String(number)],
};

const constant = textsFlag(
  '--constant <name>',
  'a value of the request that is no argument of the tool: it stays as it is; repeatable',
  'Write the name of an argument.',
);

const segment: FlagAnswer<readonly SegmentInput[], readonly string[]> = {
  flag: {
    syntax: '--segment <name=value>',
    description:
      'a segment of the path that is an argument of the tool: symbol=BTC in /quotes/BTC, like {symbol=BTC} in the URL; repeatable',
    repeatable: true,
  },
  parse: (texts) =>
    combineResults(
      texts.map((text) => {
        const [, name, value] = /^([A-Za-z]\w*)=(.+)$/s.exec(text.trim()) ?? [];
        if (name !== undefined && value !== undefined) return pass({ name, value });
        return reject('--segment', text, 'is not of the form name=value', 'Write --segment symbol=BTC.');
      }),
    ),
  replay: (segments) => segments.flatMap(({ name, value }) => ['--segment', `${name}=${value}`]),
};

const env: FlagAnswer<readonly string[], readonly string[]> = {
  flag: {
    syntax: '--env <name>',
    description:
      'send this variable of your environment: the key that a request names as $NAME, or MCP_SOURCE_TOKEN to the --from-url server; repeatable',
    repeatable: true,
  },
  parse: (names) =>
    combineResults(
      names.map((name) => {
        if (/^[A-Za-z_]\w*$/.test(name.trim())) return pass(name.trim());
        // It may be a key: a shell replaces `--env $API_KEY` by its value.
        return reject('--env', undefined, 'expects the name of a variable', 'Write --env API_KEY.');
      }),
    ),
  replay: (names) => names.flatMap((name) => ['--env', name]),
};

const send: FlagAnswer<boolean, boolean> = {
  flag: { syntax: '--send', description: 'send the request once although it may change something' },
  parse: (isSent) => pass(isSent),
  replay: (isSent) => [isSent ? '--send' : '--no-send'],
};

const noSend: FlagAnswer<undefined, true> = {
  flag: { syntax: '--no-send', description: 'send no request: --from-sample <file> gives the answer' },
  parse: () => pass(undefined),
  replay: () => [],
};

const samples = textsFlag(
  '--from-sample <file>',
  'a JSON answer of the API, instead of --output: it defines types and sample data; - for standard input; repeatable',
  'Write the path of a JSON file, or -.',
);
const fromSample: Question<readonly string[], readonly string[]> = {
  ...samples,
  prompt: { message: 'Which files contain answers of the API?' },
  parse(paths) {
    const parsed = samples.parse(paths);
    if (!parsed.ok || new Set(parsed.value).size === paths.length) return parsed;
    const repeatedPath = parsed.value.find((path, i) => parsed.value.indexOf(path) < i);
    return reject('--from-sample', repeatedPath, 'is given twice', 'Give each file only once.');
  },
};

const fromOpenapi: Question<string> = {
  ...textFlag(
    '--from-openapi <file>',
    'path or URL of an OpenAPI document (JSON or YAML); its operations become tools that call the API; without --operation, they are listed',
    'Write the path or URL of an OpenAPI document.',
  ),
  prompt: { message: 'Which OpenAPI document?' },
};

const header: FlagAnswer<StartQuestionAnswers['header'], readonly string[]> = {
  flag: {
    syntax: '--header <header>',
    description:
      "a header for the download of the document from a URL: 'authorization: Bearer …'; stored and printed nowhere; repeatable",
    repeatable: true,
  },
  parse: (texts) =>
    combineResults(
      texts.map((text) => {
        const [, name, value] =
          /^([!#$%&'*+.^_`|~\w-]+):\s*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)\s*$/.exec(text) ?? [];
        if (name !== undefined && value !== undefined) return pass([name, value] as const);
        const hint = "Write --header 'authorization: Bearer …'.";
        return reject('--header', undefined, 'expects a name, a colon and a value', hint);
      }),
    ),
  replay: () => [],
};

const operation: Question<readonly string[], readonly string[]> = {
  ...textsFlag(
    '--operation <id>',
    "an operation of the document: its operationId, or 'GET /path'; repeatable",
    "Write an operationId, or 'GET /path'.",
  ),
  prompt: { message: 'Which operations?' },
};

const search = textFlag(
  '--search <text>',
  'only list the operations of the document whose method, path, id or summary contains each of these words',
  "Write one or more words, such as 'get repos'.",
);

const strictSchema: FlagAnswer<boolean, true> = {
  flag: {
    syntax: '--strict-schema',
    description:
      'leave out the examples of the document that contradict its schemas, instead of widening those',
  },
  parse: () => pass(true),
  replay: (isGiven) => (isGiven ? ['--strict-schema'] : []),
};

const fromUrl: Question<string> = {
  flag: {
    syntax: '--from-url <endpoint>',
    description:
      'endpoint of a running MCP server: its tools are imported, and calls forwarded to it; --only names some, and those that write',
  },
  prompt: { message: 'Where is the MCP server?', placeholder: 'https://tools.example.com/mcp' },
  parse(text) {
    if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return pass(text.trim());
    const hint = 'Write the endpoint of an MCP server: https://tools.example.com/mcp.';
    return reject('--from-url', text, 'is not an http or https URL', hint);
  },
  replay: (url) => ['--from-url', url],
};

const fields: Question<readonly string[], readonly string[]> = {
  flag: {
    syntax: '--fields <fields>',
    description:
      "only these fields of the answer: 'id,owner.login,items[].id'; for one of several tools: 'get_repo:id,owner.login'; repeatable",
    repeatable: true,
  },
  prompt: { message: 'Which fields of' },
  parse(texts) {
    const empty = texts.find((text) => /(^|[:,])\s*(,|$)/.test(text));
    if (empty === undefined) return pass(texts.map((text) => text.trim()));
    return reject('--fields', empty, 'contains an empty name', 'Write --fields id,owner.login.');
  },
  replay: (texts) => texts.flatMap((text) => ['--fields', text]),
};

const spec: Question<string> = {
  ...textFlag(
    '--spec <file>',
    'file with tool specs or MCP tool definitions (JSON or YAML), instead of the flags above; - for standard input',
    'Write the path of a JSON or YAML file, or -.',
  ),
  prompt: { message: 'Which spec file?' },
};

const only: Question<readonly string[], readonly string[]> = {
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

const outputText: FlagAnswer<boolean, true> = {
  flag: {
    syntax: '--output-text',
    description:
      'each tool of the --spec file that declares no output returns its answer as one text, result',
  },
  parse: () => pass(true),
  replay: (isGiven) => (isGiven ? ['--output-text'] : []),
};

const example: Question<readonly ExampleValue[], readonly string[]> = {
  flag: {
    syntax: '--example <parameter=value>',
    description:
      "another value to send a --from-request with: 'symbol=ETH'; with --spec, a value for a required parameter: 'get_price.symbol=BTC'; repeatable",
    repeatable: true,
  },
  prompt: { message: 'With which values should the marketplace call the tools?' },
  parse: (texts) => combineResults(texts.map((text) => parseExampleValue(text, '--example'))),
  replay: (values) => values.flatMap((value) => ['--example', formatExampleValue(value)]),
};

/** A flag that names tools of a list by any name. */
function toolNames(flag: string, description: string): FlagAnswer<readonly string[], readonly string[]> {
  return {
    flag: { syntax: `${flag} <tool>`, description, repeatable: true },
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
  fromRequest,
  request,
  constant,
  segment,
  env,
  send,
  noSend,
  fromSample,
  fromOpenapi,
  header,
  operation,
  search,
  strictSchema,
  fromUrl,
  fields,
  spec,
  only,
  except,
  outputText,
  example,
} as const;
