import { combineResults, inputError, listed, pass, refuse } from '../model/input-error.ts';
import type { Result } from '../model/model.ts';
import type { ToolParts } from './tool.ts';

type ListFlag =
  | 'input'
  | 'output'
  | 'meta'
  | 'fromSample'
  | 'operation'
  | 'only'
  | 'except'
  | 'example'
  | 'ask';

/** Flags as commander returns them: a list if a flag can be repeated. */
export type Flags<Parts> = {
  readonly [name in keyof Parts]?: name extends ListFlag ? readonly string[] : string;
};

/** The questions that flags can answer. */
type Readable<Parts> = {
  readonly [name in keyof Parts]: {
    readonly flag: { readonly syntax: string };
    parse(given: never): Result<Parts[name] | null>;
  };
};

/** Reads flags by their table: their answers, or every error at once. */
export function readFlags<Parts extends ToolParts>(
  questions: Readable<Parts>,
  flags: Flags<Parts>,
): Result<Partial<Parts>> {
  const names = Object.keys(questions) as (keyof Parts)[];
  const clash = clashErrors(questions, flags);
  const parts = combineResults(names.map((name) => partOf(name, questions[name], flags[name])));
  if (!parts.ok) return refuse(...clash, ...parts.errors);
  return clash.length > 0 ? refuse(...clash) : pass(Object.assign({}, ...parts.value));
}

/**
 * A spec file contains everything that the flags for one tool contain, except a missing output; samples define the
 * output.
 */
function clashErrors<Parts extends ToolParts>(questions: Readable<Parts>, flags: Flags<Parts>) {
  const selecting = (['only', 'except', 'example'] as const).filter((name) => flags[name] !== undefined);
  return [
    ...clashesWith(
      'spec',
      ['tool', 'description', 'title', 'effect', 'input', 'meta', 'fromSample'],
      questions,
      flags,
    ),
    ...clashesWith('fromSample', ['output', 'returns'], questions, flags),
    ...clashesWith('fromOpenapi', ['input', 'output', 'returns', 'fromSample', 'spec'], questions, flags),
    ...clashesWith('fromUrl', excludedByUrl, questions, flags),
    ...(flags.fromOpenapi === undefined ? ofDocument : []).flatMap(({ name, says }) => {
      const [value] = [flags[name] ?? []].flat();
      const hint = 'Add --from-openapi <path or URL>.';
      return value === undefined ? [] : [inputError(`--${name}`, value, says, hint)];
    }),
    ...clashesWith('search', ['operation'], questions, flags),
    ...(flags.spec === undefined && flags.fromUrl === undefined ? selecting : []).map((name) =>
      inputError(
        `--${name}`,
        flags[name]?.join(','),
        'applies only to the tools of a --spec file or a --from-url server',
        'Give --spec <file> or --from-url <endpoint> too.',
      ),
    ),
  ];
}

/** Flags that need a document. */
const ofDocument = [
  { name: 'operation', says: 'names an operation, but no document is given' },
  { name: 'search', says: 'searches a document, but none is given' },
] as const;

/** Flags that cannot be combined with `--from-url`: the server provides their answers. */
const excludedByUrl = [
  'tool',
  'description',
  'title',
  'effect',
  'input',
  'output',
  'returns',
  'meta',
  'fromSample',
  'fromOpenapi',
  'spec',
] as const;

function clashesWith<Parts extends ToolParts>(
  whole: 'spec' | 'fromSample' | 'fromOpenapi' | 'fromUrl' | 'search',
  parts: readonly (keyof ToolParts)[],
  questions: Readable<Parts>,
  flags: Flags<Parts>,
) {
  const given = parts.filter((name) => flags[name] !== undefined);
  if (flags[whole] === undefined || given.length === 0) return [];
  const flag = (name: keyof ToolParts) => questions[name].flag.syntax.split(' ')[0] ?? name;
  const value = [flags[whole]].flat()[0];
  return [
    inputError(
      flag(whole),
      value,
      `cannot be combined with ${listed(given.map(flag))}`,
      'Use one or the other.',
    ),
  ];
}

function partOf<Name extends PropertyKey, T>(
  name: Name,
  { parse }: { parse(given: never): Result<T | null> },
  given: unknown,
): Result<{ readonly [name in Name]?: T | null }> {
  if (given === undefined) return pass({});
  const result = parse(given as never);
  return result.ok ? pass({ [name]: result.value } as { [name in Name]: T | null }) : result;
}
