import { cachedByObject, isObject, shorten } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import { bounds, isReadable } from '../json/walk.ts';
import type { Problem } from '../model.ts';
import { fact, must, problemsAt, problemUnless, type StaticRule, should, valueProblems } from './rule.ts';
import { allSchemas, isText, normalize, textProblems } from './schema-problems.ts';

/** Name and description of a tool. */
export const toolRules: readonly StaticRule[] = [
  {
    ...must('tool.name', 'C§2.1'),
    title: 'every tool has a name',
    fix: 'Give the tool a name.',
    inspect: (tool) => textProblems(tool, 'name'),
  },
  {
    ...must('tool.name-unique', 'C§2.1'),
    title: 'no two tools share a name',
    fix: 'Rename one of them. tools/call can reach only one tool of each name.',
    inspect: ({ name }, siblings) =>
      problemUnless(!isText(name) || siblings.every((sibling) => sibling.name !== name), {
        path: 'name',
        expected: 'a unique name',
        actual: `several tools are called ${shorten(name)}`,
      }),
  },
  {
    ...fact('tool.name-pattern', 'should', 'profile limits.toolNamePattern'),
    title: 'every tool name contains only characters that all clients accept',
    fix: 'Use at most 64 letters, digits, _ and -. In several clients, one invalid name hides all tools of the server.',
    inspect: ({ name }, _siblings, { limits }) =>
      problemUnless(!isText(name) || new RegExp(limits.toolNamePattern, 'u').test(name), {
        path: 'name',
        expected: `a match of ${limits.toolNamePattern}`,
        actual: shorten(name),
      }),
  },
  {
    ...must('tool.description', 'C§2.1'),
    title: 'every tool has a description',
    fix: 'Describe what the tool returns and when to use it.',
    inspect: (tool) => textProblems(tool, 'description'),
  },
  {
    ...fact('tool.description-length', 'should', 'profile limits.descriptionCharacters'),
    title: 'every description is long enough to choose the tool by it',
    fix: 'Add what the result contains and when an agent should call the tool.',
    inspect: ({ description }, _siblings, { limits }) => {
      if (!isText(description)) return [];
      const { length } = description.trim();
      const expected = `at least ${limits.descriptionCharacters} characters`;
      const actual = `${length} characters`;
      return problemsAt(length >= limits.descriptionCharacters, 'description', expected, actual);
    },
  },
  {
    ...should('tool.description-complete', 'C§2.1'),
    title: 'every description says what the tool returns and when to use it',
    fix: 'Write two sentences: "Returns …. Use it when …."',
    inspect: ({ description }) => (isText(description) ? incompleteness(description) : []),
  },
  {
    ...fact('tool.description-own-words', 'should', 'C§2.1; docs guides/troubleshooting.mdx'),
    title: 'no description merely repeats the name',
    fix: 'Add what the name does not say: what the tool returns, from which source, and how recent the data is.',
    inspect: ({ name, description }) =>
      valueProblems(
        !isText(name) ||
          !isText(description) ||
          normalize(fillerless(description)) !== normalize(fillerless(name)),
        'description',
        'more than the name',
        description,
      ),
  },
  {
    ...fact('tool.description-distinct', 'should', 'C§2.1; docs guides/troubleshooting.mdx'),
    title: 'no two tools share a description',
    fix: 'Say in each description how the tool differs from the others, so that an agent can choose.',
    inspect: (tool, siblings) =>
      problemUnless(
        gistOf(tool) === undefined || siblings.every((sibling) => gistOf(sibling) !== gistOf(tool)),
        {
          path: 'description',
          expected: 'a unique description',
          actual: shorten(tool.description),
        },
      ),
  },
  {
    ...should('tool.to-do', 'C§2.1'),
    title: 'no description is still a placeholder',
    fix: 'Replace the to-do by a description: agents read it as it is.',
    inspect: (tool) => [
      ...toDoProblem(tool.description, 'description'),
      ...allSchemas(tool).flatMap(({ schema, path, property }) =>
        toDoProblem(schema.description, `${path}.description`, property),
      ),
    ],
  },
];

/** Words that only say that something has a place in a request. */
const placed = /^The (\S+) (?:(?:of|in) the (?:request|address|path|query|body|header))\.?$/;
/** "Use it when a question needs GET /parcels/{parcelId}": nobody searches by a method and a path. */
const addressed = /\bneeds? (?:GET|POST|PUT|PATCH|DELETE) \/\S*/;

function toDoProblem(description: unknown, path: string, property?: string): readonly Problem[] {
  const isPlaceholder =
    isText(description) &&
    (/^\s*TODO\b/.test(description) ||
      (property === undefined
        ? path === 'description' && addressed.test(description)
        : placed.exec(description)?.[1] === property));
  return valueProblems(!isPlaceholder, path, 'a description', description);
}

/** The normalized description of a tool, computed once for all comparisons; undefined if there is none. */
const gistOf = cachedByObject(({ description }: JsonObject) =>
  isText(description) ? normalize(description) : undefined,
);

/** The one rule that sees every element of the list; the others see only those that pass it. */
export const readable: StaticRule = {
  ...must('tool.readable', 'C§2.1'),
  title: 'every element of the tool list is an object within the size limits',
  fix: 'Return one plain object for each tool, and simplify its schemas.',
  inspect: (tool) =>
    problemUnless(isObject(tool) && isReadable(tool), {
      expected: `a JSON object of at most ${bounds.levels} levels and ${bounds.values} values`,
      actual: isObject(tool) ? 'a larger object' : shorten(tool),
    }),
};

/** Reads Latin script only; descriptions in other scripts are not checked. */
function incompleteness(text: string): readonly Problem[] {
  if (/[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u.test(text)) return [];
  return [
    ...valueProblems(returning.test(text), 'description', 'what the tool returns ("Returns …")', text),
    ...valueProblems(using.test(text), 'description', 'when to use it ("Use it when …")', text),
  ];
}

const returning =
  /\b(return|get|give|list|fetch|find|show|report|compute|calculate|scan|search|look|count|convert|check|analy[sz]e|answer|provide|retrieve|estimate|compare|detect|rank|create|generate|tell|read)(s|es|ed|ing)?\b/i;
const using = /\b(use|used|useful|call|when|whenever|where|if|before|after|for|to)\b/i;

/** The significant words of a text; in a name, underscores and hyphens separate them. */
function fillerless(text: string): string {
  return text
    .replaceAll(/[_-]/g, ' ')
    .replaceAll(/\b(a|an|the|this|tool|function|api|is|that|which|it)\b/gi, '');
}
