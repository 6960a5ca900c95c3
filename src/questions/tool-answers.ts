import type { Effect } from '../contract/effect.ts';
import type { Field, ToolSpec } from '../model/model.ts';
import type { MetaSetting } from '../tools/meta.ts';
import type { Selection } from '../tools/selection.ts';
import { type ToolParts, toolQuestions } from './tool.ts';

/** The requested tools: a described one, one from samples, operations of an API, tools of a server, or a spec file. */
export type ToolAnswers =
  | { readonly kind: 'tool'; readonly tool: ToolSpec; readonly meta: readonly MetaSetting[] }
  | {
      readonly kind: 'sample';
      readonly paths: readonly string[];
      readonly name: string;
      /** Absent: derived from the fields of the samples. */
      readonly description?: string;
      readonly title?: string;
      readonly effect?: Effect;
      readonly input: readonly Field[];
      readonly meta: readonly MetaSetting[];
    }
  | {
      readonly kind: 'openapi';
      /** Path or URL. */
      readonly document: string;
      readonly operations: readonly string[];
      /** Absent: name and description of each tool come from its operation. */
      readonly name?: string;
      readonly description?: string;
      readonly title?: string;
      /** Absent: derived from the method of each operation. */
      readonly effect?: Effect;
      readonly meta: readonly MetaSetting[];
    }
  | { readonly kind: 'url'; readonly url: string; readonly selection: Selection }
  | { readonly kind: 'file'; readonly path: string; readonly selection: Selection };

/** The questions about a tool that need an answer if no questions may be asked and defaults are not accepted. */
export function requiredParts({
  spec,
  fromOpenapi,
  fromSample,
  fromUrl,
}: Partial<ToolParts>): readonly ('tool' | 'description' | 'output')[] {
  if (spec !== undefined || fromOpenapi !== undefined || fromUrl !== undefined) return [];
  return fromSample === undefined ? ['tool', 'description', 'output'] : ['tool', 'description'];
}

/** The tools that the answers describe, with defaults for missing answers. */
export function toolAnswers(given: Partial<ToolParts>): ToolAnswers {
  if (given.spec !== undefined) return { kind: 'file', path: given.spec, selection: selectionOf(given) };
  if (given.fromUrl !== undefined) return { kind: 'url', url: given.fromUrl, selection: selectionOf(given) };
  if (given.fromSample !== undefined) return sampleAnswers(given, given.fromSample);
  if (given.fromOpenapi !== undefined) return openapiAnswers(given, given.fromOpenapi);
  return { kind: 'tool', tool: toolOf(given), meta: given.meta ?? [] };
}

/** The arguments of a command line that give the same answers. */
export function replayTools(answers: ToolAnswers): readonly string[] {
  const { tool, description, title, effect, input, output, returns, meta, fromSample } = toolQuestions;
  const { fromOpenapi, operation, fromUrl, spec, only, except, example } = toolQuestions;
  if (answers.kind === 'url') {
    const { selection } = answers;
    return [
      ...fromUrl.replay(answers.url),
      ...only.replay(selection.only),
      ...except.replay(selection.except),
      ...example.replay(selection.examples ?? []),
    ];
  }
  if (answers.kind === 'openapi') {
    return [
      ...(answers.name === undefined ? [] : tool.replay(answers.name)),
      ...(answers.description === undefined ? [] : description.replay(answers.description)),
      ...(answers.title === undefined ? [] : title.replay(answers.title)),
      ...(answers.effect === undefined ? [] : effect.replay(answers.effect)),
      ...fromOpenapi.replay(answers.document),
      ...operation.replay(answers.operations),
      ...meta.replay(answers.meta),
    ];
  }
  if (answers.kind === 'file') {
    const { selection } = answers;
    return [
      ...spec.replay(answers.path),
      ...only.replay(selection.only),
      ...except.replay(selection.except),
      ...(selection.output === undefined ? [] : output.replay(selection.output)),
      ...returns.replay(selection.returns ?? 'record'),
      ...example.replay(selection.examples ?? []),
    ];
  }
  if (answers.kind === 'sample') {
    return [
      ...tool.replay(answers.name),
      ...(answers.description === undefined ? [] : description.replay(answers.description)),
      ...replayNature(answers.name, answers),
      ...input.replay(answers.input),
      ...fromSample.replay(answers.paths),
      ...meta.replay(answers.meta),
    ];
  }
  return [
    ...tool.replay(answers.tool.name),
    ...description.replay(answers.tool.description),
    ...replayNature(answers.tool.name, answers.tool),
    ...input.replay(answers.tool.input),
    ...output.replay(answers.tool.output),
    ...returns.replay(answers.tool.returns),
    ...meta.replay(answers.meta),
  ];
}

/** Title and effect, if they differ from those derived from the name. */
function replayNature(
  name: string,
  given: { readonly title?: string; readonly effect?: Effect },
): readonly string[] {
  const { title, effect } = toolQuestions;
  const isOwn = given.title !== undefined && given.title !== title.initial({ tool: name });
  const isOther = given.effect !== undefined && given.effect !== effect.initial({ tool: name });
  return [...(isOwn ? title.replay(given.title) : []), ...(isOther ? effect.replay(given.effect) : [])];
}

function selectionOf({ only = [], except = [], output, returns, example }: Partial<ToolParts>): Selection {
  return {
    only,
    except,
    ...(output && { output }),
    ...(returns && { returns }),
    ...(example && example.length > 0 && { examples: example }),
  };
}

function openapiAnswers(given: Partial<ToolParts>, document: string): ToolAnswers {
  const { tool, description, title, effect, operation = [], meta = [] } = given;
  return {
    kind: 'openapi',
    document,
    operations: operation,
    ...(tool !== undefined && { name: tool }),
    ...(description !== undefined && { description }),
    ...(title !== undefined && { title }),
    ...(effect !== undefined && { effect }),
    meta,
  };
}

function sampleAnswers(given: Partial<ToolParts>, paths: readonly string[]): ToolAnswers {
  const { tool, input } = toolQuestions;
  return {
    kind: 'sample',
    paths,
    name: given.tool ?? tool.initial(given),
    ...(given.description !== undefined && { description: given.description }),
    ...(given.title !== undefined && { title: given.title }),
    ...(given.effect !== undefined && { effect: given.effect }),
    input: given.input ?? input.initial(given),
    meta: given.meta ?? [],
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
