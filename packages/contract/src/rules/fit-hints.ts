import { verbIn, wordsOf } from '../definition/effect.ts';
import { isObject, objectOr, shorten } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { mergeStatic, problemUnless, type StaticRule, should } from './rule.ts';
import { isText } from './schema-problems.ts';

/** Hints that clients show, and use to decide whether to ask before a call. */
export const fitHintRules: readonly StaticRule[] = [
  {
    ...should('fit.title', 'MCP 2025-06-18, Tool; claude.com/docs/connectors/building/review-criteria'),
    title: 'every tool has a display title',
    fix: 'Add a title of a few words: title: "Gas price".',
    inspect: ({ title, annotations }) =>
      problemUnless(isText(title) || (isObject(annotations) && isText(annotations.title)), {
        path: 'title',
        expected: 'a display name',
        actual: shorten(title),
      }),
  },
  mergeStatic({ title: 'every tool declares readOnlyHint, destructiveHint and openWorldHint' }, [
    {
      ...should(
        'fit.hints',
        'claude.com/docs/connectors/building/review-criteria: the applicable hint; developers.openai.com/plugins/plugin-guidelines; MCP 2025-11-25, ToolAnnotations',
      ),
      title: 'every tool declares whether it only reads or may destroy something',
      fix: 'Declare readOnlyHint: true for a tool that only reads, otherwise destructiveHint.',
      inspect: ({ annotations }) => {
        const { readOnlyHint, destructiveHint } = objectOr(annotations);
        return problemUnless(readOnlyHint === true || typeof destructiveHint === 'boolean', {
          path: 'annotations',
          expected: 'readOnlyHint: true, or destructiveHint',
          actual: shorten(annotations),
        });
      },
    },
    {
      ...should(
        'fit.hints-complete',
        'developers.openai.com/plugins/plugin-guidelines: correct annotation; MCP 2025-11-25, ToolAnnotations',
      ),
      title: 'every tool declares readOnlyHint, destructiveHint and openWorldHint',
      fix: 'Declare all three: a tool that reads has readOnlyHint true and destructiveHint false.',
      inspect: ({ annotations }) =>
        undeclared(annotations, ['readOnlyHint', 'destructiveHint', 'openWorldHint']),
    },
  ]),
  {
    ...should('fit.idempotent-hint', 'MCP 2025-11-25, ToolAnnotations: idempotentHint'),
    title: 'every tool that changes something declares whether a repeated call changes more',
    fix: 'Declare idempotentHint: true if a second call with the same arguments changes nothing more.',
    inspect: ({ annotations }) =>
      objectOr(annotations).readOnlyHint === false ? undeclared(annotations, ['idempotentHint']) : [],
  },
  {
    ...should(
      'fit.hints-consistent',
      'MCP 2025-11-25, ToolAnnotations; developers.openai.com/plugins/plugin-guidelines; RFC 9110 §9.2 (methods)',
    ),
    title: 'the hints of every tool agree with its name, its _meta and the requests it makes',
    fix: 'Correct the hint or the name. Clients run a read-only tool without asking the user.',
    inspect: (tool, _siblings, _profile, methods) => {
      if (!isObject(tool.annotations)) return [];
      const name = isText(tool.name) ? tool.name : '';
      return [
        ...contradictions(tool.annotations),
        ...againstName(name, tool.annotations),
        ...againstMeta(tool._meta, tool.annotations),
        ...againstMethods(methods.get(name) ?? [], tool.annotations),
      ];
    },
  },
];

function undeclared(
  annotations: JsonObject[string] | undefined,
  hints: readonly string[],
): readonly Problem[] {
  const annotationMembers = objectOr(annotations);
  return hints
    .filter((hint) => typeof annotationMembers[hint] !== 'boolean')
    .map((hint) => ({
      path: `annotations.${hint}`,
      expected: 'true or false',
      actual: shorten(annotationMembers[hint]),
    }));
}

/** The problem of a hint whose value contradicts something else, if it does. */
function problemIf(
  isWrong: boolean,
  hint: 'readOnlyHint' | 'destructiveHint',
  expected: boolean,
  reason: string,
): readonly Problem[] {
  const problem = {
    path: `annotations.${hint}`,
    expected: `${expected}, as ${reason}`,
    actual: `${!expected}`,
  };
  return problemUnless(!isWrong, problem);
}

function contradictions({ readOnlyHint, destructiveHint }: JsonObject): readonly Problem[] {
  const isBoth = readOnlyHint === true && destructiveHint === true;
  return problemIf(isBoth, 'destructiveHint', false, 'readOnlyHint is true');
}

/** Words in a name that mean removal. */
const deleting: ReadonlySet<string> = new Set('delete remove erase destroy purge wipe truncate'.split(' '));

function againstName(name: string, { readOnlyHint, destructiveHint }: JsonObject): readonly Problem[] {
  const verb = verbIn(name);
  const effect = verb?.mayBeNoun ? undefined : verb?.effect;
  const isWriting = effect !== undefined && effect !== 'reads';
  const isDeleting = isWriting && wordsOf(name).some((word) => deleting.has(word));
  const nameClaim = `the name ${name} indicates`;
  const writes = readOnlyHint !== true;
  const isHarmless = writes && destructiveHint === false;
  const isHarmful = writes && destructiveHint === true;
  return [
    ...problemIf(isWriting && !writes, 'readOnlyHint', false, `${nameClaim} an effect`),
    ...problemIf(isDeleting && isHarmless, 'destructiveHint', true, `${nameClaim} deletion`),
    ...problemIf(effect === 'reads' && isHarmful, 'destructiveHint', false, `${nameClaim} reading`),
  ];
}

function againstMeta(meta: JsonObject[string] | undefined, { readOnlyHint }: JsonObject): readonly Problem[] {
  if (!isObject(meta)) return [];
  const answers = meta.surface === 'answer' || meta.queryEligible === true;
  const reason = '_meta offers the tool for answering questions';
  return problemIf(answers && readOnlyHint === false, 'readOnlyHint', true, reason);
}

/** A POST may be a search; the other methods determine the effect. */
function againstMethods(
  methods: readonly string[],
  { readOnlyHint, destructiveHint }: JsonObject,
): readonly Problem[] {
  const writing = methods.find((method) => ['put', 'patch', 'delete'].includes(method));
  const onlyReads = methods.length > 0 && methods.every((method) => method === 'get');
  const isWriting = writing !== undefined && readOnlyHint === true;
  const isDeleting = methods.includes('delete') && destructiveHint === false;
  return [
    ...problemIf(isWriting, 'readOnlyHint', false, `the tool sends ${writing?.toUpperCase()} requests`),
    ...problemIf(isDeleting, 'destructiveHint', true, 'the tool sends DELETE requests'),
    ...problemIf(
      onlyReads && readOnlyHint === false,
      'readOnlyHint',
      true,
      'the tool sends GET requests only',
    ),
  ];
}
