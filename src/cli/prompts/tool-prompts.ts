import { type InputError, pass, type Result, refuse } from 'market-mcp-contract/command';
import type { Effect } from 'market-mcp-contract/definition';
import { marketplaces } from 'market-mcp-contract/platforms';
import { isCurl } from '../../import/request/curl-text.ts';
import { type CreateQuestionAnswers, createQuestions } from '../../questions/create.ts';
import { type RequestPlace, sourceQuestion } from '../../questions/partial-answers.ts';
import type { Defaulted, Question } from '../../questions/question.ts';
import { toolQuestions } from '../../questions/tool-questions.ts';
import type { Asker } from './asker.ts';
import { askConsent, type Consent } from './consent.ts';
import type { FieldKind } from './field-editor.ts';
import { askFields } from './field-form.ts';
import { askAnswerFields, askDescriptions, askExamples } from './imported-tool-prompts.ts';
import type { Choice } from './line-prompt.ts';
import type { PromptContext } from './prompt-context.ts';
import {
  askHarRequest,
  askRequest,
  askRequestInputs,
  nameOfRequest,
  type RequestInputs,
} from './request-prompts.ts';
import {
  askDocument,
  askOperations,
  askSamples,
  askServer,
  askSpec,
  askTools,
  type ChosenStart,
  starts,
} from './start-prompts.ts';

/** The answers so far. Only the prompts use `start`, `requestInputs` and `consent`. */
export type PromptAnswers = Partial<CreateQuestionAnswers & RequestPlace> & {
  readonly start?: ChosenStart;
  readonly requestInputs?: RequestInputs;
  readonly consent?: Consent;
};

/** The name of a question that is asked at the terminal. */
export type QuestionName = keyof typeof questionLabels;

/** The questions in the list of answers. */
export const questionLabels = {
  start: 'What to start from',
  directory: 'Directory',
  fromRequest: 'Request',
  request: 'Request of the HAR file',
  requestInputs: 'Inputs of the request',
  consent: 'Keys and consent',
  fromSample: 'Sample answers',
  fromOpenapi: 'OpenAPI document',
  operation: 'Operations',
  fromUrl: 'MCP server',
  only: 'Tools',
  fields: 'Fields of the answers',
  spec: 'Spec file',
  tool: 'Name of the tool',
  description: 'Description',
  effect: 'What a call does',
  input: 'Inputs',
  returns: 'One record or a list',
  output: 'Outputs',
  example: 'Examples',
  platform: 'Marketplace',
} as const;

/** The questions that are not about the tool. */
interface OtherQuestions {
  readonly questionsBeforeTool: readonly QuestionName[];
  readonly questionsAfterTool: readonly QuestionName[];
}

/** The questions, in order. They depend on the answers so far. */
export function orderedQuestions(
  answers: PromptAnswers,
  { questionsBeforeTool, questionsAfterTool }: OtherQuestions,
): readonly QuestionName[] {
  const withOtherQuestions = (...toolQuestionNames: readonly QuestionName[]) => [
    ...questionsBeforeTool,
    ...toolQuestionNames,
    ...questionsAfterTool,
  ];
  const blankToolQuestions = ['tool', 'effect', 'input', 'description'] as const;
  const [request, ...otherRequests] = answers.fromRequest ?? [];
  const isFile = request !== undefined && otherRequests.length === 0 && !isCurl(request);
  const requestQuestions = isFile ? (['fromRequest', 'request'] as const) : (['fromRequest'] as const);
  switch (sourceQuestion(answers) ?? answers.start) {
    case 'fromRequest':
      // A user who chose to paste wants to paste next.
      return [
        ...requestQuestions,
        ...withOtherQuestions('tool', 'requestInputs', 'consent', 'example', 'fields', 'description'),
      ];
    case 'spec':
      return withOtherQuestions('spec', 'example');
    case 'fromOpenapi':
      return withOtherQuestions('fromOpenapi', 'operation', 'consent', 'example', 'fields', 'description');
    case 'fromUrl':
      return withOtherQuestions('fromUrl', 'consent', 'only', 'fields', 'description');
    case 'fromSample':
      return withOtherQuestions('fromSample', ...blankToolQuestions, 'fields');
    default:
      return withOtherQuestions(...blankToolQuestions, 'returns', 'output');
  }
}

const answersAboutOperation = ['consent', 'send', 'env', 'fields', 'description', 'example'] as const;
const answersAboutInputs = ['requestInputs', 'constant', 'segment'] as const;
const answersAboutRequest = [...answersAboutInputs, ...answersAboutOperation, 'tool'] as const;

/** The answers that are removed when the answer to a question changes. */
const dependentAnswers: { readonly [question in QuestionName]?: readonly (keyof PromptAnswers)[] } = {
  start: [
    ...(['fromRequest', 'request', 'spec', 'fromSample', 'fromOpenapi', 'operation'] as const),
    ...(['fromUrl', 'only', ...answersAboutInputs, ...answersAboutOperation] as const),
  ],
  fromRequest: ['request', ...answersAboutRequest],
  request: answersAboutRequest,
  fromSample: ['fields'],
  fromOpenapi: ['operation', ...answersAboutOperation],
  operation: answersAboutOperation,
  fromUrl: ['consent', 'env', 'only', 'fields', 'description'],
  only: ['fields', 'description'],
  fields: ['description'],
};

/** Asks one question and adds its answer to the others. */
export async function askForAnswer(
  asker: Asker,
  question: QuestionName,
  answers: PromptAnswers,
  context: PromptContext,
  isBack: boolean,
): Promise<PromptAnswers> {
  const answer = await askers[question](asker, answers, context, isBack);
  const isChange = answers[question] !== undefined && answers[question] !== answer;
  const removedAnswers = isChange ? (dependentAnswers[question] ?? []) : [];
  const remainingAnswers = {
    ...answers,
    ...Object.fromEntries(removedAnswers.map((name) => [name, undefined])),
  };
  const isGroup = question === 'consent' || question === 'requestInputs';
  return { ...remainingAnswers, [question]: answer, ...(isGroup && (answer as Consent | RequestInputs)) };
}

const parameter: FieldKind = {
  noun: 'parameter',
  flag: '--input',
  samples: [
    'symbol:string=BTC Ticker',
    'limit?:integer(1..100)=10 Rows',
    'chain:string(base|ethereum) Chain',
    'tags:string[] Tags',
  ],
  isRequired: (path) => `Is ${path} required?`,
  isInput: true,
};
const field: FieldKind = {
  noun: 'field',
  flag: '--output',
  samples: ['price:number Price in USD', 'note?:string Note', 'quote.bid:number Bid', 'tags:string[] Tags'],
  isRequired: (path) => `Is ${path} always present?`,
  isInput: false,
};

const shapes = [
  { value: 'record', label: 'One record: the fields that you describe next' },
  { value: 'list', label: 'A list: items with those fields each, and their count' },
] as const;

const effectChoices: readonly Choice<Effect>[] = [
  { value: 'reads', label: 'It reads', hint: 'asks a source and changes nothing' },
  { value: 'computes', label: 'It computes', hint: 'asks nobody and changes nothing' },
  { value: 'adds', label: 'It adds', hint: 'a new thing with each call' },
  { value: 'changes', label: 'It changes or deletes', hint: 'the same call again changes nothing more' },
  { value: 'acts', label: 'It acts', hint: 'sends, pays or runs something with each call' },
];

type Ask<T> = (asker: Asker, answers: PromptAnswers, context: PromptContext, isBack: boolean) => Promise<T>;

const askers: { readonly [question in QuestionName]: Ask<NonNullable<PromptAnswers[question]>> } = {
  start: (asker, { start = 'fromRequest' }) => asker.choose('Start from', starts, start),
  directory: (asker, answers, { directoryError }) =>
    askText(asker, createQuestions.directory, answers, answers.directory, '-', directoryError),
  fromRequest: askRequest,
  request: askHarRequest,
  requestInputs: askRequestInputs,
  consent: askConsent,
  fromSample: askSamples,
  fromOpenapi: askDocument,
  operation: askOperations,
  fromUrl: askServer,
  only: askTools,
  fields: askAnswerFields,
  spec: askSpec,
  async tool(asker, answers, { tool, nameError, run }) {
    const name = await nameOfRequest(answers, run);
    const nameQuestion = name === undefined ? tool : { ...tool, initial: () => name };
    return askText(asker, nameQuestion, answers, answers.tool, '_', nameError);
  },
  async description(asker, answers, context, isBack) {
    const source = sourceQuestion(answers);
    if (source !== undefined && source !== 'fromSample')
      return askDescriptions(asker, answers, context, isBack);
    const { description } = toolQuestions;
    const parse = (text: string) => {
      const parsed = description.parse([text]);
      return parsed.ok ? pass(text) : parsed;
    };
    return [await askText(asker, { ...description, parse }, answers, answers.description?.join('\n'))];
  },
  effect(asker, answers) {
    const { prompt, initial } = toolQuestions.effect;
    return asker.choose(prompt.message, effectChoices, answers.effect ?? initial(answers));
  },
  input(asker, answers) {
    const { prompt, initial } = toolQuestions.input;
    return askFields(asker, prompt.message, parameter, initial(answers), answers.input);
  },
  returns(asker, answers) {
    const { prompt, initial } = toolQuestions.returns;
    return asker.choose(prompt.message, shapes, answers.returns ?? initial(answers));
  },
  output(asker, answers) {
    const { prompt, initial } = toolQuestions.output;
    const message = answers.returns === 'list' ? 'What does each item contain?' : prompt.message;
    return askFields(asker, message, field, initial(answers), answers.output);
  },
  example: askExamples,
  platform(asker, { platform }) {
    const options = marketplaces.map(({ name, title }) => ({
      value: name,
      label: name === 'generic' ? 'Any (the contract alone)' : title,
      hint: name,
    }));
    return asker.choose(createQuestions.platform.prompt.message, options, platform);
  },
};

/** Asks for a text. Refuses one that is taken, and suggests a free one. */
function askText(
  asker: Asker,
  { prompt, initial, parse }: Pick<Question<string>, 'prompt' | 'parse'> & Defaulted<string, PromptAnswers>,
  answers: PromptAnswers,
  previous: string | undefined,
  separator = ' ',
  takenError: (name: string) => InputError | undefined = () => undefined,
): Promise<string> {
  const checkedText = (text: string): Result<string> => {
    const parsed = parse(text);
    const error = parsed.ok ? takenError(parsed.value) : undefined;
    return error ? refuse(error) : parsed;
  };
  const initialName = initial(answers);
  const names = [initialName, ...[2, 3, 4, 5].map((i) => `${initialName}${separator}${i}`)];
  return asker.text({
    ...prompt,
    initial: names.find((name) => checkedText(name).ok),
    previous,
    parse: checkedText,
  });
}
