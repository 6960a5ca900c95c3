import { wordsOf } from '../definition/effect.ts';
import { cachedByObject, isObject, shorten } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { problemsAt, problemUnless, type StaticRule, should, valueProblems } from './rule.ts';
import { allSchemas, isText, normalize } from './schema-problems.ts';

/** The effects of a tool's texts on the model that reads them. */
export const fitTextRules: readonly StaticRule[] = [
  {
    ...should(
      'fit.no-instructions',
      'OWASP MCP Top 10, MCP03 tool poisoning; claude.com/docs/connectors/building/review-criteria: prompt-injection patterns',
    ),
    title: 'no text of a tool gives instructions to the model',
    fix: 'Describe only the tool, in plain visible text.',
    inspect: (tool) =>
      matchesIn(tool, injections).map(({ path, flaw, found }) => ({
        path,
        expected: 'a description',
        actual: `${flaw}: ${found}`,
      })),
  },
  {
    ...should(
      'fit.no-promotion',
      'developers.openai.com/plugins/plugin-guidelines: descriptions that match behavior; claude.com/docs/connectors/building/review-criteria: prompt-injection patterns',
    ),
    title: 'no text of a tool praises it or disparages others',
    fix: 'Say only what the tool does. The model decides which tool to use.',
    inspect: (tool) =>
      matchesIn(tool, promotions).map(({ path, found }) => ({
        path,
        expected: 'no comparison with other tools',
        actual: found,
      })),
  },
  {
    ...should(
      'fit.look-alike',
      'anthropic.com/engineering/writing-tools-for-agents: tools with a distinct purpose; which names are too similar is a house estimate',
    ),
    title: 'no two tools look alike',
    fix: 'Use names that show the difference, such as get_spot_price and get_price_history, or merge the two tools.',
    inspect: (tool, siblings) => {
      const { name, words, description } = traitsOf(tool);
      const twin = siblings.find((sibling) => sibling.name !== tool.name && traitsOf(sibling).name === name);
      const echo = siblings.find(
        (sibling) =>
          words !== '' && traitsOf(sibling).description !== description && traitsOf(sibling).words === words,
      );
      return [
        ...problemUnless(name === '' || twin === undefined, {
          path: 'name',
          expected: 'a name that cannot be confused with another',
          actual: `${shorten(tool.name)} beside ${shorten(twin?.name)}`,
        }),
        ...problemUnless(echo === undefined, {
          path: 'description',
          expected: 'a name with different words',
          actual: `the words of ${shorten(echo?.name)} in another order`,
        }),
      ];
    },
  },
  {
    ...should('fit.repetition', 'house estimate: a repetition costs tokens and adds nothing'),
    title: 'no text of a tool repeats another one',
    fix: 'Remove the repetition.',
    inspect: (tool) => [...headingProblems(tool), ...sentenceProblems(tool), ...echoProblems(tool)],
  },
];

/** Longer texts are examined up to here; `fit.tokens-tool` reports them. */
const examined = 50_000;

interface Text {
  readonly path: string;
  readonly text: string;
}

/** Every text of a tool that a model or a person reads. */
function toolTexts(tool: JsonObject): readonly Text[] {
  const { title, description, annotations } = tool;
  const ownTexts = {
    title,
    description,
    'annotations.title': isObject(annotations) ? annotations.title : undefined,
  };
  return [
    ...Object.entries(ownTexts).map(([path, text]) => ({ path, text })),
    ...allSchemas(tool).flatMap(({ schema, path }) => [
      { path: `${path}.title`, text: schema.title },
      { path: `${path}.description`, text: schema.description },
    ]),
  ].flatMap(({ path, text }) => (isText(text) ? [{ path, text: text.slice(0, examined) }] : []));
}

/** The texts of a tool that match a pattern. */
function matchesIn<Searched extends { readonly pattern: RegExp }>(
  tool: JsonObject,
  searched: readonly Searched[],
) {
  return toolTexts(tool).flatMap(({ path, text }) =>
    searched.flatMap((search) => {
      const [found] = search.pattern.exec(text) ?? [];
      if (found === undefined) return [];
      return [{ ...search, path, found: shorten(found) }];
    }),
  );
}

interface Injection {
  readonly flaw: string;
  readonly pattern: RegExp;
  /** Whether a result for every argument should not contain it, either. */
  readonly concernsResults?: true;
}

export const injections: readonly Injection[] = [
  {
    flaw: 'it overrides other instructions',
    concernsResults: true,
    pattern:
      /\b(ignore|disregard|forget|override|bypass)\b.{0,40}\b(previous|prior|above|earlier|other|all|any|system|your)\b.{0,30}\b(instruction|prompt|rule|guideline|direction)s?\b/is,
  },
  {
    flaw: 'it hides something from the user',
    concernsResults: true,
    pattern:
      /\b(do not|don't|never|without)\b.{0,20}\b(tell|telling|inform|informing|mention|mentioning|reveal|revealing|alert|alerting|notify|notifying|ask|asking)\b.{0,25}\buser\b/is,
  },
  {
    flaw: 'it stands between the model and other tools',
    pattern:
      /\b(before|after|instead of|prior to)\b.{0,20}\b(calling|using|invoking|running)?.{0,12}\b(any|every|all|each)( of the)?( other)? (tool|function|request|response|answer|message)s?\b/is,
  },
  {
    flaw: 'it demands to be called',
    concernsResults: true,
    pattern:
      /\b(always|must|you should)\b.{0,20}\b(call|use|invoke|run)\b.{0,30}\b(this tool|it|me)\b.{0,20}\bfirst\b/is,
  },
  {
    flaw: 'it pretends to be the system',
    concernsResults: true,
    pattern: /<\/?\s*(important|system|instructions?|secret|hidden|assistant|admin)\b/i,
  },
  { flaw: 'it hides text in a comment', pattern: /<!--/ },
  {
    flaw: 'it names files of the user',
    pattern: /(~|\$HOME|\/home\/\w+|\/root)\/\.\w+|\bid_(rsa|ed25519)\b|\bmcp\.json\b|\.ssh\//i,
  },
  {
    flaw: 'it contains invisible characters',
    pattern: /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u,
  },
];

/** Not one pattern: V8 takes three times as long to compile all alternatives at once. */
const promotions = [
  /\b(best|leading|premier|ultimate|number one|most (?:accurate|reliable|complete|powerful|trusted)) (?:tool|api|source|service|server|app|choice|option)\b/i,
  /\b(?:better|faster|cheaper|more \w+) than (?:any |all )?other (?:tool|api|source|service|server|app)s?\b/i,
  /\b(?:prefer|choose|pick|select|use) (?:this|it)(?: tool| app| server)? (?:over|instead of|rather than) (?:any |all )?other\b/i,
  /\b(?:do not|don't|never|avoid) (?:use|using|call|calling|trust|trusting) (?:any )?(?:other|alternative|competing|built-in) (?:tool|api|source|service|server|app)s?\b/i,
].map((pattern) => ({ pattern }));

/**
 * The name of a tool without differences that readers and models miss (plural, order, synonyms of get), the distinct words of
 * its description in alphabetical order, and its normalized description.
 */
const traitsOf = cachedByObject((tool: JsonObject) => {
  const description = isText(tool.description) ? tool.description.slice(0, examined) : '';
  const words = new Set(description.toLowerCase().match(/\p{L}+/gu) ?? []);
  return {
    name: isText(tool.name) ? skeleton(tool.name) : '',
    words: [...words].toSorted().join(' '),
    description: normalize(description),
  };
});

const likeGet: ReadonlySet<string> = new Set(['get', 'fetch', 'retrieve', 'read', 'show']);
const confusable = new Map([
  ['0', 'o'],
  ['1', 'l'],
  ['5', 's'],
]);

function skeleton(name: string): string {
  const letters = name
    .normalize('NFKC')
    .replaceAll(/(?<=\p{L})[015]|[015](?=\p{L})/gu, (digit) => confusable.get(digit) ?? digit);
  return wordsOf(letters)
    .map((word) => (likeGet.has(word) ? 'get' : word.replace(/(?<=\p{L}{3})s$/u, '').replaceAll('i', 'l')))
    .toSorted()
    .join(' ');
}

/** "Get price: returns …": a description that starts with the name or title. */
function headingProblems({ name, title, description }: JsonObject): readonly Problem[] {
  if (!isText(description)) return [];
  const [, heading = '', rest = ''] =
    /^([^:.\n–—]{1,100}?)(?:[:.\n–—]|\s-\s)(.*)$/s.exec(description.trim()) ?? [];
  const repeated = [name, title].find((text) => isText(text) && normalize(text) === normalize(heading));
  const expected = 'a text that does not begin with the name or the title';
  return valueProblems(repeated === undefined || rest.trim() === '', 'description', expected, heading);
}

/** A part of a description with fewer plain words is not a sentence: it may be a line of an example. */
const fewestWords = 5;
const plainWord = /(?<=^|[\s(])\p{L}[\p{L}’'-]*(?=$|[\s),;:])/gu;

function sentenceProblems({ description }: JsonObject): readonly Problem[] {
  if (!isText(description)) return [];
  const sentences = description
    .slice(0, examined)
    .split(/[.!?\n]+/)
    .filter((part) => (part.match(plainWord)?.length ?? 0) >= fewestWords);
  const normalized = sentences.map(normalize);
  const repeated = normalized.findIndex((sentence, i) => normalized.indexOf(sentence) < i);
  const actual = `twice: ${shorten(sentences[repeated]?.trim())}`;
  return problemsAt(repeated === -1, 'description', 'each sentence once', actual);
}

/** The title, or the text of a parameter or field, repeats the description of the tool. */
function echoProblems(tool: JsonObject): readonly Problem[] {
  const ownDescription = isText(tool.description) ? normalize(tool.description) : '';
  if (ownDescription === '') return [];
  return toolTexts(tool)
    .filter(({ path, text }) => path !== 'description' && normalize(text) === ownDescription)
    .map(({ path, text }) => ({ path, expected: 'what this part is', actual: shorten(text) }));
}
