import type { FlagGroup } from 'market-mcp-contract/command';

/** The flags of `create-market-mcp` in its help. */
export const createGroups: readonly FlagGroup[] = [
  {
    title: 'Start from',
    common: {
      fromRequest: 'curl command, or a file with one, or a HAR file: it is sent once, and becomes a tool',
      env: 'send this variable of your environment, such as a key',
      fromOpenapi: 'path or URL of an OpenAPI document; lists its operations',
      operation: "operationId or 'GET /path' in that document",
      fromSample: 'file with an answer of the API, as JSON',
      fromUrl: 'running MCP server, to which calls are forwarded',
      spec: 'file with tool definitions, as JSON or YAML',
    },
    more: [
      ...['request', 'constant', 'segment', 'send', 'noSend', 'header', 'search', 'strictSchema'],
      ...['fields', 'only', 'except', 'outputText', 'example'],
    ],
  },
  {
    title: 'The tool',
    common: {
      tool: 'its name, such as get_gas_price',
      description: 'what it returns, and when to use it',
      input: "a parameter: 'symbol:string=BTC Trading pair'",
      output: "a field of the answer: 'price:number Price in USD'",
    },
    more: ['title', 'effect', 'returns', 'meta'],
  },
  {
    title: 'The project',
    common: {
      platform: 'profile: generic (default), context, or a file',
      deploy: 'also write the files for compose, fly, kubernetes, …',
      yes: 'use the default for every missing flag; never ask',
      json: 'print one JSON object; never ask',
      dryRun: 'list the files, write nothing',
      install: 'do not install packages, build or check',
    },
    more: ['packageManager', 'ask', 'git', 'check', 'force', 'overwrite'],
  },
];

/** The flags of `market-mcp check` in its help. */
export const checkGroups: readonly FlagGroup[] = [
  {
    title: 'Rules',
    common: {
      platform: 'profile by name or file (default: of the project)',
      only: 'run only these rules or groups: gate,output.typed',
      skip: 'skip these rules or groups',
      level: 'lowest level of a rule whose failure counts',
    },
    more: ['era', 'requireAll', 'baseline', 'saveBaseline', 'against', 'saveListing'],
  },
  {
    title: 'A project',
    common: {
      live: 'let tools that only read call their real APIs',
      deploy: 'check what is deployed to this target, such as docker',
      watch: 'check again after each change of the project',
    },
    more: ['build'],
  },
  {
    title: 'A server at a URL',
    common: {
      call: "tools that the check may call ('*': all that read)",
      token: 'token of the platform, for the calls',
      signingKey: 'private key whose public key the server trusts',
      header: 'header for every request ("X-Api-Key: 1")',
      availability: 'look once at a server in use, and run no tool',
    },
    more: ['issuer', 'audience', 'examples', 'explore', 'seed', 'timeout', 'deadline'],
  },
  {
    title: 'The report',
    common: {
      json: 'print one JSON object, also for an error',
      reporter: 'format: pretty, json, junit, sarif, github, markdown',
      summary: 'also write the report to a file, as Markdown',
      verbose: 'also list the rules that passed',
    },
    more: [],
  },
];

/** The commands of `market-mcp` in its help, each with its line there. */
export const commandGroups: { readonly [title: string]: { readonly [command: string]: string } } = {
  Create: {
    new: 'create a tool server, and check it',
    'add-tool': 'add a tool to the project',
    'rename-tool': 'rename a tool, its file and its test',
    'remove-tool': 'remove tools and their tests',
    list: 'list the tools, and what the marketplace has not read yet',
    upgrade: 'bring the project to the version of this program',
    doctor: 'show versions, owners of files, and what an upgrade would do',
  },
  Try: {
    dev: 'run the server and the local marketplace; restart after changes',
    call: 'call a tool as the platform does, and validate its result',
    record: 'record real answers of the APIs for the tests',
    token: 'sign a token with the local platform key',
    marketplace: 'run the local marketplace without a server',
  },
  Check: {
    check: 'check a project or a running server against the rules',
    explain: 'explain a rule, with an example that fails and one that passes',
    platforms: 'list the platform profiles',
    schema: 'print the JSON Schema of files that this program reads',
  },
  Publish: {
    deploy: 'add the files for a place to deploy to',
    register: 'rehearse the registration at the local marketplace',
    listing: 'write server.json, and print the fields of the registration form',
  },
};
