import { combineResults, inputError, orList, pass, type Result, refuse } from 'market-mcp-contract/command';
import type { ToolParts } from './tool-questions.ts';

/** Flags as commander returns them: a list if a flag can be repeated, `true` if it has no value. */
export type Flags<Parts> = {
  readonly [name in keyof Parts]?: Parts[name] extends readonly unknown[]
    ? readonly string[]
    : Parts[name] extends boolean
      ? boolean
      : string;
};

/** The questions that flags can answer. */
type Readable<Parts> = {
  readonly [name in keyof Parts]: {
    readonly flag: { readonly syntax: string };
    parse(value: never): Result<Parts[name]>;
  };
};

/** Reads flags by their table: their answers, or every error at once. */
export function readFlags<Parts extends ToolParts>(
  questions: Readable<Parts>,
  flags: Flags<Parts>,
): Result<Partial<Parts>> {
  const names = Object.keys(questions) as (keyof Parts)[];
  const clash = flagClashErrors(questions, flags);
  const parts = combineResults(names.map((name) => parsePart(name, questions[name], flags[name])));
  if (!parts.ok) return refuse(...clash, ...parts.errors);
  if (clash.length > 0) return refuse(...clash);
  return pass(Object.assign({}, ...parts.value));
}

type PartName = keyof ToolParts;

const ofOneTool = ['tool', 'description', 'title', 'effect', 'input', 'meta', 'fromSample'] as const;

/**
 * Flags that cannot be combined. A spec file contains everything that the flags for one tool contain, except a missing output;
 * samples define the output; a server provides every answer.
 */
const clashes: readonly (readonly [PartName, readonly PartName[]])[] = [
  ['spec', ofOneTool],
  ['fromRequest', ['output', 'returns', 'fromOpenapi', 'fromUrl', 'spec']],
  ['fromSample', ['output', 'returns']],
  ['fromOpenapi', ['input', 'output', 'returns', 'spec']],
  [
    'fromUrl',
    [...ofOneTool.filter((name) => name !== 'description'), 'output', 'returns', 'fromOpenapi', 'spec'],
  ],
  ['search', ['operation']],
  ['outputText', ['output', 'returns']],
];

/** Flags that need one of others: what they do without, and the fix. */
const needs: readonly (readonly [readonly PartName[], readonly PartName[], string, string])[] = [
  [
    ['operation'],
    ['fromOpenapi'],
    'names an operation, but no document is given',
    'Add --from-openapi <path or URL>.',
  ],
  [
    ['header'],
    ['fromOpenapi'],
    'is for the download of a document, but none is given',
    'Add --from-openapi <URL>.',
  ],
  [
    ['search'],
    ['fromOpenapi'],
    'searches a document, but none is given',
    'Add --from-openapi <path or URL>.',
  ],
  [
    ['strictSchema'],
    ['fromOpenapi'],
    'is for the schemas of a document, but none is given',
    'Add --from-openapi <path or URL>.',
  ],
  [
    ['only', 'except'],
    ['spec', 'fromUrl'],
    'applies only to the tools of a --spec file or a --from-url server',
    'Give --spec <file> or --from-url <endpoint> too.',
  ],
  [
    ['example'],
    ['spec', 'fromUrl', 'fromRequest', 'fromOpenapi'],
    'applies only to a request, or to the tools of a document, a --spec file or a --from-url server',
    'Give --from-request <request>, --from-openapi, --spec <file> or --from-url <endpoint> too.',
  ],
  [
    ['request', 'constant', 'segment'],
    ['fromRequest'],
    'applies only to a request, but none is given',
    'Add --from-request <request>.',
  ],
  [
    ['env'],
    ['fromRequest', 'fromOpenapi', 'fromUrl'],
    'allows to send a variable, but there is no request',
    'Add --from-request, --from-openapi with --send, or --from-url.',
  ],
  [
    ['send'],
    ['fromRequest', 'fromOpenapi'],
    'applies only to a request, but none is given',
    'Add --from-request <request>, or --from-openapi with --operation.',
  ],
  [['outputText'], ['spec'], 'applies only to the tools of a --spec file', 'Give --spec <file> too.'],
  [
    ['fields'],
    ['fromOpenapi', 'fromUrl', 'fromSample', 'fromRequest'],
    'applies only to the answer of an API, a server or a sample',
    'Give --from-openapi, --from-url or --from-sample too, or name the fields with --output.',
  ],
];

function flagClashErrors<Parts extends ToolParts>(questions: Readable<Parts>, flags: Flags<Parts>) {
  const isGiven = (name: PartName) => flags[name] !== undefined;
  const flag = (name: PartName) => questions[name].flag.syntax.split(' ')[0] ?? name;
  // A request may contain a key.
  const values = (name: PartName) =>
    name === 'fromRequest' ? [] : [flags[name] ?? []].flat().filter((value) => typeof value !== 'boolean');
  const clashing = clashes.flatMap(([base, parts]) => {
    const otherFlags = parts.filter(isGiven).map(flag);
    if (!isGiven(base) || otherFlags.length === 0) return [];
    const message = `cannot be combined with ${orList(otherFlags)}`;
    return [inputError(flag(base), values(base)[0], message, 'Use one or the other.')];
  });
  const lackingBase = needs
    .filter(([, bases]) => !bases.some(isGiven))
    .flatMap(([names, , message, hint]) =>
      names.filter(isGiven).map((name) => {
        const value = name === 'header' || name === 'env' ? undefined : values(name).join(',') || undefined;
        return inputError(flag(name), value, message, hint);
      }),
    );
  const { length } = [flags.description ?? []].flat();
  const isForSeveral = isGiven('fromOpenapi') || isGiven('fromUrl') || isGiven('fromRequest');
  const repeated =
    length > 1 && !isForSeveral
      ? [inputError('--description', undefined, `is given ${length} times for one tool`, 'Give one.')]
      : [];
  return [...clashing, ...lackingBase, ...repeated];
}

function parsePart<Name extends PropertyKey, T>(
  name: Name,
  { parse }: { parse(value: never): Result<T> },
  value: unknown,
): Result<{ readonly [name in Name]?: T }> {
  if (value === undefined) return pass({});
  const result = parse(value as never);
  if (result.ok) return pass({ [name]: result.value } as { [name in Name]: T });
  return result;
}
