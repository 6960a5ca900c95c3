import { combineResults, inputError, orList, pass, type Result, refuse } from 'market-mcp-contract/command';
import type { ToolQuestionAnswers } from './tool-questions.ts';

/** Flags as commander returns them: a list if a flag can be repeated, `true` if it has no value. */
export type Flags<Answers> = {
  readonly [name in keyof Answers]?: Answers[name] extends readonly unknown[]
    ? readonly string[]
    : Answers[name] extends boolean
      ? boolean
      : string;
};

/** The questions that flags can answer. */
type Readable<Answers> = {
  readonly [name in keyof Answers]: {
    readonly flag: { readonly syntax: string };
    parse(value: never): Result<Answers[name]>;
  };
};

/** Reads flags by their table: their answers, or every error at once. */
export function readFlags<Answers extends ToolQuestionAnswers>(
  questions: Readable<Answers>,
  flags: Flags<Answers>,
): Result<Partial<Answers>> {
  const names = Object.keys(questions) as (keyof Answers)[];
  const clashErrors = flagClashErrors(questions, flags);
  const answers = combineResults(names.map((name) => parseAnswer(name, questions[name], flags[name])));
  if (!answers.ok) return refuse(...clashErrors, ...answers.errors);
  if (clashErrors.length > 0) return refuse(...clashErrors);
  return pass(Object.assign({}, ...answers.value));
}

type ToolQuestionName = keyof ToolQuestionAnswers;

const singleToolQuestions = [
  'tool',
  'description',
  'title',
  'effect',
  'input',
  'meta',
  'fromSample',
] as const;

/**
 * Flags that cannot be combined. A spec file contains everything that the flags for one tool contain, except a missing output;
 * samples define the output; a server provides every answer.
 */
const clashes: readonly (readonly [ToolQuestionName, readonly ToolQuestionName[]])[] = [
  ['spec', singleToolQuestions],
  ['fromRequest', ['output', 'returns', 'fromOpenapi', 'fromUrl', 'spec']],
  ['fromSample', ['output', 'returns']],
  ['fromOpenapi', ['input', 'output', 'returns', 'spec']],
  [
    'fromUrl',
    [
      ...singleToolQuestions.filter((name) => name !== 'description'),
      'output',
      'returns',
      'fromOpenapi',
      'spec',
    ],
  ],
  ['search', ['operation']],
  ['outputText', ['output', 'returns']],
];

/** Flags that need another flag. */
interface FlagRequirement {
  readonly flags: readonly ToolQuestionName[];
  /** One of these must be given. */
  readonly oneOf: readonly ToolQuestionName[];
  /** What the flags do without one, as an error. */
  readonly message: string;
  readonly hint: string;
}

const requirements: readonly FlagRequirement[] = [
  {
    flags: ['operation'],
    oneOf: ['fromOpenapi'],
    message: 'names an operation, but no document is given',
    hint: 'Add --from-openapi <path or URL>.',
  },
  {
    flags: ['header'],
    oneOf: ['fromOpenapi'],
    message: 'is for the download of a document, but none is given',
    hint: 'Add --from-openapi <URL>.',
  },
  {
    flags: ['search'],
    oneOf: ['fromOpenapi'],
    message: 'searches a document, but none is given',
    hint: 'Add --from-openapi <path or URL>.',
  },
  {
    flags: ['strictSchema'],
    oneOf: ['fromOpenapi'],
    message: 'is for the schemas of a document, but none is given',
    hint: 'Add --from-openapi <path or URL>.',
  },
  {
    flags: ['only', 'except'],
    oneOf: ['spec', 'fromUrl'],
    message: 'applies only to the tools of a --spec file or a --from-url server',
    hint: 'Give --spec <file> or --from-url <endpoint> too.',
  },
  {
    flags: ['example'],
    oneOf: ['spec', 'fromUrl', 'fromRequest', 'fromOpenapi'],
    message: 'applies only to a request, or to the tools of a document, a --spec file or a --from-url server',
    hint: 'Give --from-request <request>, --from-openapi, --spec <file> or --from-url <endpoint> too.',
  },
  {
    flags: ['request', 'constant', 'segment'],
    oneOf: ['fromRequest'],
    message: 'applies only to a request, but none is given',
    hint: 'Add --from-request <request>.',
  },
  {
    flags: ['env'],
    oneOf: ['fromRequest', 'fromOpenapi', 'fromUrl'],
    message: 'allows to send a variable, but there is no request',
    hint: 'Add --from-request, --from-openapi with --send, or --from-url.',
  },
  {
    flags: ['send'],
    oneOf: ['fromRequest', 'fromOpenapi'],
    message: 'applies only to a request, but none is given',
    hint: 'Add --from-request <request>, or --from-openapi with --operation.',
  },
  {
    flags: ['outputText'],
    oneOf: ['spec'],
    message: 'applies only to the tools of a --spec file',
    hint: 'Give --spec <file> too.',
  },
  {
    flags: ['fields'],
    oneOf: ['fromOpenapi', 'fromUrl', 'fromSample', 'fromRequest'],
    message: 'applies only to the answer of an API, a server or a sample',
    hint: 'Give --from-openapi, --from-url or --from-sample too, or name the fields with --output.',
  },
];

function flagClashErrors<Answers extends ToolQuestionAnswers>(
  questions: Readable<Answers>,
  flags: Flags<Answers>,
) {
  const isGiven = (name: ToolQuestionName) => flags[name] !== undefined;
  const flag = (name: ToolQuestionName) => questions[name].flag.syntax.split(' ')[0] ?? name;
  // A request may contain a key.
  const values = (name: ToolQuestionName) =>
    name === 'fromRequest' ? [] : [flags[name] ?? []].flat().filter((value) => typeof value !== 'boolean');
  const combinationErrors = clashes.flatMap(([base, excludedNames]) => {
    const otherFlags = excludedNames.filter(isGiven).map(flag);
    if (!isGiven(base) || otherFlags.length === 0) return [];
    const message = `cannot be combined with ${orList(otherFlags)}`;
    return [inputError(flag(base), values(base)[0], message, 'Use one or the other.')];
  });
  const requirementErrors = requirements
    .filter(({ oneOf }) => !oneOf.some(isGiven))
    .flatMap(({ flags: names, message, hint }) =>
      names.filter(isGiven).map((name) => {
        const value = name === 'header' || name === 'env' ? undefined : values(name).join(',') || undefined;
        return inputError(flag(name), value, message, hint);
      }),
    );
  const { length } = [flags.description ?? []].flat();
  const isForSeveral = isGiven('fromOpenapi') || isGiven('fromUrl') || isGiven('fromRequest');
  const errors = [...combinationErrors, ...requirementErrors];
  if (length > 1 && !isForSeveral)
    errors.push(inputError('--description', undefined, `is given ${length} times for one tool`, 'Give one.'));
  return errors;
}

function parseAnswer<Name extends PropertyKey, T>(
  name: Name,
  { parse }: { parse(value: never): Result<T> },
  value: unknown,
): Result<{ readonly [name in Name]?: T }> {
  if (value === undefined) return pass({});
  const result = parse(value as never);
  if (result.ok) return pass({ [name]: result.value } as { [name in Name]: T });
  return result;
}
