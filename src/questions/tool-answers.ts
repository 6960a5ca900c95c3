import type { Effect } from 'market-mcp-contract/definition';
import type { ApiVariable } from '../import/imported-tool.ts';
import type { SegmentInput } from '../import/request/path-segments.ts';
import type { Field, ToolSpec } from '../model/tool-model.ts';
import type { ExampleValue } from '../tools/example-values.ts';
import type { MetaSetting } from '../tools/meta-settings.ts';
import type { ToolSelection } from '../tools/selection.ts';
import { type PartialAnswers, sourceQuestion } from './partial-answers.ts';

/** All answers about the tools to make, by the source that they are made from. */
export type ToolAnswers =
  | FieldAnswers
  | SampleAnswers
  | RequestAnswers
  | OpenApiAnswers
  | ServerAnswers
  | SpecAnswers;

/** What an author states about the tools of any source. */
interface ToolStatements {
  readonly title: string | undefined;
  readonly effect: Effect | undefined;
  readonly meta: readonly MetaSetting[];
  /** Of one tool, or `get_repo: Returns …` of one of several. */
  readonly description: readonly string[];
  /** Fields of the answers to keep. */
  readonly fields: readonly string[];
}

/** Where the values of keys come from. */
export interface KeyAccess {
  /** Of the project with the `.env`. */
  readonly directory: string;
  /** Variables of the environment that may be sent. */
  readonly env: readonly string[];
}

/** One tool that its author describes. */
export interface FieldAnswers extends ToolStatements {
  readonly kind: 'fields';
  readonly tool: string;
  readonly input: readonly Field[];
  readonly output: readonly Field[];
  readonly returns: ToolSpec['returns'];
}

/** One tool that returns what saved responses of an API contain. */
export interface SampleAnswers extends ToolStatements {
  readonly kind: 'sample';
  /** Of the files with the responses. */
  readonly paths: readonly string[];
  readonly tool: string;
  readonly input: readonly Field[];
}

/** How the answers of an API are found out: by sending its requests, or from saved responses. */
interface ApiTrial extends KeyAccess {
  /** Absent: each request or operation names its tool. */
  readonly tool: string | undefined;
  /** Undefined: only a request that reads is sent. */
  readonly send: boolean | undefined;
  /** Paths of saved responses. With them, no request of a curl command is sent. */
  readonly samples: readonly string[];
  readonly examples: readonly ExampleValue[];
}

/** Tools that send the requests of curl commands, or one request of a HAR file. */
export interface RequestAnswers extends ToolStatements, ApiTrial {
  readonly kind: 'request';
  /** Commands, or paths of files with commands or of HAR files. */
  readonly requests: readonly string[];
  /** Of the request in a HAR file. */
  readonly number: number | undefined;
  readonly input: readonly Field[];
  readonly constants: readonly string[];
  readonly segments: readonly SegmentInput[];
  /** Addresses and keys of the APIs that the project has. */
  readonly variables: readonly ApiVariable[];
}

/** Tools that call operations of an OpenAPI document. */
export interface OpenApiAnswers extends ToolStatements, ApiTrial {
  readonly kind: 'openapi';
  /** Path or URL. */
  readonly document: string;
  /** For the download of the document. */
  readonly headers: readonly (readonly [string, string])[];
  readonly operations: readonly string[];
  readonly isStrict: boolean;
}

/** Tools that forward calls to a running MCP server. */
export interface ServerAnswers extends ToolStatements, KeyAccess {
  readonly kind: 'url';
  readonly url: string;
  readonly selection: ToolSelection;
}

/** Tools of a spec file. */
export interface SpecAnswers extends ToolStatements {
  readonly kind: 'spec';
  readonly path: string;
  readonly selection: ToolSelection;
}

/** The answers by the source that they name. */
export function toolAnswers(answers: PartialAnswers): ToolAnswers {
  switch (sourceQuestion(answers)) {
    case 'spec':
      return specAnswers(answers);
    case 'fromUrl':
      return serverAnswers(answers);
    case 'fromRequest':
      return requestAnswers(answers);
    case 'fromOpenapi':
      return openApiAnswers(answers);
    case 'fromSample':
      return sampleAnswers(answers);
    default:
      return fieldAnswers(answers);
  }
}

export function keyAccess({ directory = '.', env = [] }: PartialAnswers): KeyAccess {
  return { directory, env };
}

function statementsOf({
  title,
  effect,
  meta = [],
  description = [],
  fields = [],
}: PartialAnswers): ToolStatements {
  return { title, effect, meta, description, fields };
}

function selectionOf({ only, except, output, returns, outputText, example }: PartialAnswers): ToolSelection {
  return { only, except, output, returns, outputText, example };
}

function fieldAnswers(answers: PartialAnswers): FieldAnswers {
  const { tool = '', input = [], output = [], returns = 'record' } = answers;
  return { kind: 'fields', ...statementsOf(answers), tool, input, output, returns };
}

function sampleAnswers(answers: PartialAnswers): SampleAnswers {
  const { fromSample: paths = [], tool = '', input = [] } = answers;
  return { kind: 'sample', ...statementsOf(answers), paths, tool, input };
}

/** The answers that a request and an operation of an OpenAPI document share. */
function apiAnswers(answers: PartialAnswers): ToolStatements & ApiTrial {
  const { tool, send, fromSample: samples = [], example: examples = [] } = answers;
  return { ...statementsOf(answers), ...keyAccess(answers), tool, send, samples, examples };
}

export function requestAnswers(answers: PartialAnswers): RequestAnswers {
  const { fromRequest: requests = [], request: number, input = [], variables = [] } = answers;
  const { constant: constants = [], segment: segments = [] } = answers;
  const inputs = { input, constants, segments, variables };
  return { kind: 'request', ...apiAnswers(answers), requests, number, ...inputs };
}

export function openApiAnswers(answers: PartialAnswers): OpenApiAnswers {
  const { fromOpenapi: document = '', header: headers = [], operation: operations = [] } = answers;
  const { strictSchema: isStrict = false } = answers;
  return { kind: 'openapi', ...apiAnswers(answers), document, headers, operations, isStrict };
}

export function serverAnswers(answers: PartialAnswers): ServerAnswers {
  const { fromUrl: url = '' } = answers;
  return {
    kind: 'url',
    ...statementsOf(answers),
    ...keyAccess(answers),
    url,
    selection: selectionOf(answers),
  };
}

function specAnswers(answers: PartialAnswers): SpecAnswers {
  const { spec: path = '' } = answers;
  return { kind: 'spec', ...statementsOf(answers), path, selection: selectionOf(answers) };
}
