import type { Effect } from 'market-mcp-contract/definition';
import type { Field, ToolSpec } from '../model/model.ts';
import type { ExampleValue } from '../tools/example-values.ts';
import type { MetaSetting } from '../tools/meta.ts';
import type { ToolSelection } from '../tools/selection.ts';
import { type ToolParts, toolQuestions } from './tool.ts';

/** The requested tools: a described one, one from samples, operations of an API, tools of a server, or a spec file. */
export type ToolAnswers =
  | { readonly kind: 'tool'; readonly tool: ToolSpec; readonly meta: readonly MetaSetting[] }
  | (Stated & {
      readonly kind: 'sample';
      readonly paths: readonly string[];
      readonly name: string;
      readonly input: readonly Field[];
    })
  | (Stated & {
      readonly kind: 'request';
      readonly requests: readonly string[];
      readonly number?: number;
      /** Absent: that of its request. */
      readonly name?: string;
      readonly input: readonly Field[];
      readonly constants: readonly string[];
      readonly examples: readonly ExampleValue[];
      /** Absent: only what reads is sent. */
      readonly send?: boolean;
      /** Paths of answers, if nothing is sent. */
      readonly samples?: readonly string[];
    } & RequestPlace)
  | (Stated & {
      readonly kind: 'openapi';
      /** Path or URL. */
      readonly document: string;
      /** For its download. */
      readonly headers?: ToolParts['header'];
      readonly operations: readonly string[];
      /** Absent: that of its operation. */
      readonly name?: string;
      /** Schemas of answers are not widened for the examples of the document. */
      readonly isStrict?: boolean;
      /** Of answers of its operation. */
      readonly paths?: readonly string[];
    })
  | (Reduced & { readonly kind: 'url'; readonly url: string; readonly selection: ToolSelection })
  | { readonly kind: 'file'; readonly path: string; readonly selection: ToolSelection };

/** The project of tools that are made from requests. */
export interface RequestPlace {
  /** Where `.env` is. */
  readonly directory: string;
  /** Addresses of the APIs that it has, by variable. */
  readonly addresses?: ReadonlyMap<string, string>;
}

interface Reduced {
  /** As `withFields` takes them; absent for all. */
  readonly fields?: readonly string[];
}

/** What an author states of tools that are read from something; what is absent is derived from that. */
interface Stated extends Reduced {
  readonly description?: string;
  readonly title?: string;
  readonly effect?: Effect;
  readonly meta: readonly MetaSetting[];
}

/** The questions about a tool that need an answer if no questions may be asked and defaults are not accepted. */
export function requiredParts({
  spec,
  fromOpenapi,
  fromSample,
  fromUrl,
  fromRequest,
}: Partial<ToolParts>): readonly ('tool' | 'description' | 'output')[] {
  if (fromRequest !== undefined || spec !== undefined || fromOpenapi !== undefined || fromUrl !== undefined)
    return [];
  return fromSample === undefined ? ['tool', 'description', 'output'] : ['tool', 'description'];
}

/** The tools that the answers describe, with defaults for missing answers. */
export function toolAnswers(given: Partial<ToolParts & RequestPlace>): ToolAnswers {
  if (given.spec !== undefined) return { kind: 'file', path: given.spec, selection: selectionOf(given) };
  const { fields } = given;
  if (given.fromUrl !== undefined)
    return { kind: 'url', url: given.fromUrl, selection: selectionOf(given), fields };
  const { fromSample, fromOpenapi, tool: name, description, title, effect, meta = [] } = given;
  const spec = toolOf(given);
  const stated = { description, title, effect, meta, fields };
  if (given.fromRequest !== undefined)
    return {
      kind: 'request',
      requests: given.fromRequest,
      number: given.request,
      name,
      input: given.input ?? [],
      constants: given.constant ?? [],
      examples: given.example ?? [],
      send: given.send,
      samples: fromSample,
      directory: given.directory ?? '.',
      addresses: given.addresses,
      ...stated,
    };
  if (fromSample !== undefined && fromOpenapi === undefined)
    return { kind: 'sample', paths: fromSample, name: spec.name, input: spec.input, ...stated };
  if (fromOpenapi !== undefined)
    return {
      kind: 'openapi',
      document: fromOpenapi,
      headers: given.header,
      operations: given.operation ?? [],
      name,
      isStrict: given.strictSchema,
      paths: fromSample,
      ...stated,
    };
  return { kind: 'tool', tool: spec, meta };
}

/** The arguments of a command line that give the same answers. */
export function replayTools(answers: ToolAnswers): readonly string[] {
  const questions: { readonly [name: string]: Replayed<never> } = toolQuestions;
  return Object.entries(partsOf(answers)).flatMap(([name, answer]) =>
    answer === undefined ? [] : (questions[name]?.replay(answer as never) ?? []),
  );
}

/** The answers one by one, in the order in which a command line repeats them. */
function partsOf(answers: ToolAnswers): Partial<ToolParts> {
  switch (answers.kind) {
    case 'url': {
      const { only, except, examples } = answers.selection;
      return { fromUrl: answers.url, only, except, fields: answers.fields, example: examples };
    }
    case 'file': {
      const { only, except, output, returns, outputText, examples } = answers.selection;
      return { spec: answers.path, only, except, output, returns, outputText, example: examples };
    }
    case 'openapi': {
      const { name, description, title, effect, document, operations, fields, meta, isStrict, paths } =
        answers;
      const stated = { tool: name, description, title, effect };
      return {
        ...stated,
        fromOpenapi: document,
        operation: operations,
        strictSchema: isStrict,
        fromSample: paths,
        fields,
        meta,
      };
    }
    case 'request': {
      const { name, description, title, effect, input, requests, number, constants, examples } = answers;
      const stated = { tool: name, description, title, effect, ...(input.length > 0 && { input }) };
      const { send, samples, fields, meta } = answers;
      const sent = { fromRequest: requests, request: number, constant: constants, send, example: examples };
      return { ...stated, ...sent, fromSample: samples, fields, meta };
    }
    case 'sample': {
      const { name, description, input, paths, fields, meta } = answers;
      return { tool: name, description, ...natureOf(name, answers), input, fromSample: paths, fields, meta };
    }
    case 'tool': {
      const { name, description, input, output, returns } = answers.tool;
      const nature = natureOf(name, answers.tool);
      return { tool: name, description, ...nature, input, output, returns, meta: answers.meta };
    }
  }
}

/** Title and effect, if they differ from those derived from the name. */
function natureOf(
  tool: string,
  { title, effect }: { readonly title?: string; readonly effect?: Effect },
): Partial<ToolParts> {
  return {
    title: title === toolQuestions.title.initial({ tool }) ? undefined : title,
    effect: effect === toolQuestions.effect.initial({ tool }) ? undefined : effect,
  };
}

function selectionOf({
  only = [],
  except = [],
  output,
  returns,
  outputText,
  example,
}: Partial<ToolParts>): ToolSelection {
  return {
    only,
    except,
    ...(output && { output }),
    ...(returns && { returns }),
    ...(outputText && { outputText }),
    ...(example && example.length > 0 && { examples: example }),
  };
}

/** The arguments of a command line that give the existing answers, including those that equal a default. */
export function givenFlags<Parts>(
  questions: { readonly [name in keyof Parts]-?: Replayed<Parts[name]> },
  given: Partial<Parts>,
): readonly string[] {
  return (Object.keys(questions) as (keyof Parts)[]).flatMap((name) => {
    const answer = given[name];
    if (answer === undefined) return [];
    const { flag, replay } = questions[name];
    const pieces = replay(answer);
    return pieces.length > 0 || typeof answer !== 'string'
      ? pieces
      : [flag.syntax.split(' ')[0] ?? '', answer];
  });
}

interface Replayed<T> {
  readonly flag: { readonly syntax: string };
  replay(answer: T): readonly string[];
}

function toolOf(given: Partial<ToolParts>): ToolSpec {
  const { tool, description, effect, input, output, returns } = toolQuestions;
  const name = given.tool ?? tool.initial(given);
  return {
    name,
    ...(given.title !== undefined && { title: given.title }),
    effect: given.effect ?? effect.initial({ tool: name }),
    description: given.description ?? description.initial({ ...given, tool: name }),
    input: given.input ?? input.initial(given),
    output: given.output ?? output.initial(given),
    returns: given.returns ?? returns.initial(given),
  };
}
