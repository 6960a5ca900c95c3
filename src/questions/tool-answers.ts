import type { ApiVariable } from '../import/model.ts';
import type { ToolSpec } from '../model/model.ts';
import { type ToolParts, toolQuestions } from './tool.ts';

/**
 * The complete answers about the wanted tools: a described one, one from samples, requests, operations of an API, tools of a
 * server, or a spec file. Besides the described one, they are parts in the order in which a command line repeats them.
 */
export type ToolAnswers =
  | { readonly kind: 'tool'; readonly tool: ToolSpec; readonly meta: ToolParts['meta'] }
  | (Stated & { readonly kind: 'sample' } & Pick<ToolParts, 'tool' | 'input' | 'fromSample'>)
  | (Stated & { readonly kind: 'request' } & RequestPlace &
      Pick<ToolParts, 'input' | 'fromRequest' | 'constant' | 'example'> &
      Partial<Pick<ToolParts, 'tool' | 'request' | 'send' | 'fromSample'>>)
  | (Stated & { readonly kind: 'openapi' } & Pick<ToolParts, 'fromOpenapi' | 'operation'> &
      Partial<Pick<ToolParts, 'tool' | 'header' | 'strictSchema' | 'fromSample' | 'send' | 'example'>> &
      Partial<RequestPlace>)
  | ({ readonly kind: 'url' } & Pick<ToolParts, 'fromUrl' | 'only' | 'except' | 'example'> &
      Partial<Pick<ToolParts, 'fields' | 'description'>>)
  | ({ readonly kind: 'file' } & Pick<ToolParts, 'spec' | 'only' | 'except' | 'example'> &
      Partial<Pick<ToolParts, 'output' | 'returns' | 'outputText'>>);

/** What an author states of tools that are read from something; what is absent is derived from that. */
type Stated = Pick<ToolParts, 'meta'> &
  Partial<Pick<ToolParts, 'description' | 'title' | 'effect' | 'fields'>>;

/** The project of tools that are made from requests. */
export interface RequestPlace {
  /** Where `.env` is. */
  readonly directory: string;
  /** Addresses and keys of the APIs that it has. */
  readonly variables?: readonly ApiVariable[];
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

/** The answers with defaults for missing ones. */
export function toolAnswers(given: Partial<ToolParts & RequestPlace>): ToolAnswers {
  const { spec, fromUrl, fromRequest, fromSample, fromOpenapi } = given;
  const { only = [], except = [], output, returns, outputText, fields, example = [], meta = [] } = given;
  const { tool, description, title, effect } = given;
  if (spec !== undefined) return { kind: 'file', spec, only, except, output, returns, outputText, example };
  if (fromUrl !== undefined) return { kind: 'url', fromUrl, only, except, description, fields, example };
  const stated = { tool, description, title, effect };
  if (fromRequest !== undefined) {
    const { input = [], request, constant = [], send, directory = '.', variables } = given;
    const sent = { fromRequest, request, constant, send, example };
    return { kind: 'request', ...stated, input, ...sent, fromSample, fields, meta, directory, variables };
  }
  if (fromOpenapi !== undefined) {
    const { header, operation = [], strictSchema, send, directory } = given;
    const read = { fromOpenapi, header, operation, strictSchema, fromSample, send, example };
    return { kind: 'openapi', ...stated, ...read, fields, meta, directory };
  }
  const whole = toolOf(given);
  if (fromSample === undefined) return { kind: 'tool', tool: whole, meta };
  return { kind: 'sample', ...stated, tool: whole.name, input: whole.input, fromSample, fields, meta };
}

/** The arguments of a command line that give the same answers. */
export function replayTools(answers: ToolAnswers): readonly string[] {
  const questions: { readonly [name: string]: Replayed<never> } = toolQuestions;
  return Object.entries(partsOf(answers)).flatMap(([name, answer]) =>
    answer === undefined ? [] : (questions[name]?.replay(answer as never) ?? []),
  );
}

/** The answers one by one, without a title and an effect that follow from the name. */
function partsOf(answers: ToolAnswers): Partial<ToolParts> {
  if (answers.kind !== 'tool' && answers.kind !== 'sample') return answers;
  const { name: tool, ...spec } = answers.kind === 'tool' ? answers.tool : { ...answers, name: answers.tool };
  const { title, effect } = toolQuestions;
  return {
    tool,
    ...spec,
    description: [spec.description ?? []].flat(),
    title: spec.title === title.initial({ tool }) ? undefined : spec.title,
    effect: spec.effect === effect.initial({ tool }) ? undefined : spec.effect,
    meta: answers.meta,
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
    description: given.description?.join('\n') ?? description.initial({ ...given, tool: name }),
    ...(given.title !== undefined && { title: given.title }),
    effect: given.effect ?? effect.initial({ tool: name }),
    input: given.input ?? input.initial(given),
    output: given.output ?? output.initial(given),
    returns: given.returns ?? returns.initial(given),
  };
}
