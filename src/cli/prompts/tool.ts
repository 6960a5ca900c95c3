import { entriesOf } from '../../changes/entries.ts';
import type { Effect } from '../../contract/effect.ts';
import { generic } from '../../contract/platforms/index.ts';
import { prepareImported } from '../../import/prepare.ts';
import { pass } from '../../model/input-error.ts';
import type { Question } from '../../questions/model.ts';
import { type ToolParts, toolQuestions } from '../../questions/tool.ts';
import { toolAnswers } from '../../questions/tool-answers.ts';
import {
  type ExampleValue,
  exampleFor,
  type MissingExample,
  missingExamples,
} from '../../tools/example-values.ts';
import type { Asker, Choice } from './asker.ts';
import { askFields } from './fields.ts';
import type { FieldKind } from './form.ts';
import { Back, Cancelled } from './leaving.ts';
import {
  askDocument,
  askOperations,
  askSamples,
  askServer,
  askSpec,
  askStart,
  askTools,
  type Start,
} from './start.ts';
import { askInOrder } from './steps.ts';

/** The questions about a tool, including what it is made from. */
export type ToolPart =
  | 'start'
  | 'fromSample'
  | 'fromOpenapi'
  | 'operation'
  | 'fromUrl'
  | 'only'
  | 'spec'
  | 'tool'
  | 'description'
  | 'effect'
  | 'input'
  | 'returns'
  | 'output'
  | 'example';

/** The answers so far; only the prompts use `start`. */
export type Started<Parts> = Parts & { readonly start?: Start };

export const toolLabels: { readonly [part in ToolPart]: string } = {
  start: 'What to start from',
  fromSample: 'Sample answers',
  fromOpenapi: 'OpenAPI document',
  operation: 'Operations',
  fromUrl: 'MCP server',
  only: 'Tools',
  spec: 'Spec file',
  tool: 'Name of the tool',
  description: 'Description',
  effect: 'What a call does',
  input: 'Inputs',
  returns: 'One record or a list',
  output: 'Outputs',
  example: 'Examples of parameters',
};

export function toolParts({
  start,
  spec,
  fromOpenapi,
  fromSample,
  fromUrl,
}: Started<Partial<ToolParts>>): readonly ToolPart[] {
  if (start === 'spec' || spec !== undefined) return ['spec', 'example'];
  if (start === 'openapi' || fromOpenapi !== undefined) return ['fromOpenapi', 'operation'];
  if (start === 'url' || fromUrl !== undefined) return ['fromUrl', 'only'];
  const described = ['tool', 'description', 'effect', 'input'] as const;
  if (start === 'sample' || fromSample !== undefined) return ['fromSample', ...described];
  return [...described, 'returns', 'output'];
}

/** Asks one question about a tool and adds its answer to the others. */
export async function askToolPart<Parts extends Started<Partial<ToolParts>>>(
  asker: Asker,
  part: ToolPart,
  parts: Parts,
  tool: Question<string, Parts>,
  isBack: boolean,
): Promise<Parts> {
  switch (part) {
    case 'start':
      return askStart(asker, parts);
    case 'fromSample':
      return { ...parts, fromSample: await askSamples(asker, parts.fromSample) };
    case 'fromOpenapi': {
      const fromOpenapi = await askDocument(asker, parts.fromOpenapi);
      return { ...parts, fromOpenapi, ...(fromOpenapi !== parts.fromOpenapi && { operation: undefined }) };
    }
    case 'operation':
      return { ...parts, operation: await askOperations(asker, parts.fromOpenapi ?? '', parts.operation) };
    case 'fromUrl': {
      const fromUrl = await askServer(asker, parts.fromUrl);
      return { ...parts, fromUrl, ...(fromUrl !== parts.fromUrl && { only: undefined }) };
    }
    case 'only':
      return { ...parts, only: await askTools(asker, parts.fromUrl ?? '', parts.only) };
    case 'spec':
      return { ...parts, spec: await askSpec(asker, parts.spec) };
    case 'tool':
      return { ...parts, tool: await askText(asker, tool, parts, parts.tool) };
    case 'description': {
      const { description } = toolQuestions;
      return { ...parts, description: await askText(asker, description, parts, parts.description) };
    }
    case 'effect': {
      const { prompt, initial } = toolQuestions.effect;
      const chosen = await asker.choose(prompt.message, effectChoices, parts.effect ?? initial(parts));
      return { ...parts, effect: chosen };
    }
    case 'input': {
      const { prompt, initial } = toolQuestions.input;
      const input = await askFields(asker, prompt.message, parameter, initial(parts), parts.input);
      return { ...parts, input };
    }
    case 'output': {
      const { prompt, initial } = toolQuestions.output;
      const message = parts.returns === 'list' ? 'What does each item contain?' : prompt.message;
      return { ...parts, output: await askFields(asker, message, field, initial(parts), parts.output) };
    }
    case 'example':
      return { ...parts, example: await askExamples(asker, parts, isBack) };
    case 'returns': {
      const { prompt, initial } = toolQuestions.returns;
      const chosen = await asker.choose(prompt.message, shapes, parts.returns ?? initial(parts));
      return { ...parts, returns: chosen };
    }
  }
}

/** Asks for an example value of each parameter that would get a placeholder. Enter keeps the placeholder. */
async function askExamples(
  asker: Asker,
  parts: Partial<ToolParts>,
  isBack: boolean,
): Promise<readonly ExampleValue[]> {
  const { example: before = [], ...given } = parts;
  // Errors in the file are reported at the review.
  const entries = await entriesOf(toolAnswers(given), generic).catch(() => undefined);
  const preparation = entries?.ok ? prepareImported(entries.value, generic) : undefined;
  const wanted = preparation?.ok ? missingExamples(preparation.prepared.tools) : [];
  if (isBack && wanted.length === 0) throw new Back();
  const open = wanted.findIndex((one) => !before.some((value) => isFor(value, one)));
  let values = before;
  const steps = wanted.map((one) => async (earlier: readonly ExampleValue[]) => {
    values = await askExample(asker, one, earlier);
    return values;
  });
  try {
    return await askInOrder(() => steps, before, {
      isBack,
      from: isBack ? steps.length - 1 : Math.max(0, open),
    });
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    throw new Cancelled({ unfinished: { example: values } });
  }
}

/** Asks for one example and adds it to the others. */
async function askExample(
  asker: Asker,
  wanted: MissingExample,
  values: readonly ExampleValue[],
): Promise<readonly ExampleValue[]> {
  const { tool, parameter } = wanted;
  const before = values.find((value) => isFor(value, wanted))?.text;
  const text = await asker.text({
    message: `Example of ${tool}.${parameter}: the marketplace calls the tool with it`,
    placeholder: 'none: a placeholder that the check reports',
    initial: { text: '', value: '' },
    ...(before !== undefined && { before }),
    parse: (typed) => {
      const value = exampleFor(typed, wanted, '--example');
      return value.ok ? pass(typed) : value;
    },
  });
  const others = values.filter((value) => !isFor(value, wanted));
  return text === '' ? others : [...others, { tool, parameter, text }];
}

function isFor(value: ExampleValue, { tool, parameter }: MissingExample): boolean {
  return value.tool === tool && value.parameter === parameter;
}

const parameter: FieldKind = {
  noun: 'parameter',
  flag: '--input',
  isRequired: (path) => `Is ${path} required?`,
  hasDefault: true,
};
const field: FieldKind = {
  noun: 'field',
  flag: '--output',
  isRequired: (path) => `Is ${path} always present?`,
  hasDefault: false,
};

const shapes = [
  { value: 'record', label: 'One record' },
  { value: 'list', label: 'A list', hint: 'items and their count' },
] as const;

const effectChoices: readonly Choice<Effect>[] = [
  { value: 'reads', label: 'It reads', hint: 'asks a source and changes nothing' },
  { value: 'computes', label: 'It computes', hint: 'asks nobody and changes nothing' },
  { value: 'adds', label: 'It adds', hint: 'a new thing with each call' },
  { value: 'changes', label: 'It changes or deletes', hint: 'the same call again changes nothing more' },
  { value: 'acts', label: 'It acts', hint: 'sends, pays or runs something with each call' },
];

function askText<Parts>(
  asker: Asker,
  { prompt, initial, parse }: Question<string, Parts>,
  parts: Partial<Parts>,
  before: string | undefined,
): Promise<string> {
  const text = initial(parts);
  const given = before === undefined ? {} : { before };
  return asker.text({ ...prompt, initial: { text, value: text }, ...given, parse });
}
