import { effectInName, readingVerbs, wordsOf } from '../definition/effect.ts';
import { shorten } from '../json/json.ts';
import { propertiesOf } from '../json/keywords.ts';
import type { JsonObject } from '../json/value.ts';
import type { LocatedSchema } from '../json/walk.ts';
import type { Problem } from '../model.ts';
import { forbids } from './dialect.ts';
import { problemsAt, problemUnless, type StaticRule, should, valueProblems } from './rule.ts';
import { hasItems, inputSchemas, normalize } from './schema-problems.ts';

/** Limits for one inputSchema. */
const limits = {
  levels: 5,
  properties: 100,
  enumValues: 1_000,
  longEnum: 250,
  enumCharacters: 15_000,
} as const;

const rootKeywords = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'];
const rareKeywords = (
  'allOf oneOf not if then else dependentRequired dependentSchemas dependencies patternProperties propertyNames ' +
  'contains'
).split(' ');

/** The part of JSON Schema that every model API accepts for the arguments of a tool. */
export const fitSchemaRules: readonly StaticRule[] = [
  forbids({
    ...should(
      'fit.no-root-union',
      'errors of the Anthropic API ("input_schema does not support oneOf, allOf, or anyOf at the top level") and the OpenAI API ("schema must … not have oneOf/anyOf/allOf/enum/not at the top level")',
    ),
    title: 'no inputSchema has a union or another composition at its root',
    fix: 'Use plain properties, and check in the handler which of them belong together.',
    keywords: rootKeywords,
    of: (tool) => inputSchemas(tool).slice(0, 1),
  }),
  forbids({
    ...should(
      'fit.no-ref',
      'Gemini API, Schema of function declarations: no $ref (github.com/google-gemini/gemini-cli/issues/13326)',
    ),
    title: 'no inputSchema contains a reference',
    fix: 'Replace the $ref by the schema that it refers to.',
    keywords: ['$ref'],
    of: inputSchemas,
  }),
  forbids({
    ...should(
      'fit.keywords',
      'developers.openai.com/api/docs/guides/structured-outputs: allOf, not, if, dependent… are not supported; Gemini API, Schema: the others are unknown names',
    ),
    title: 'no inputSchema uses keywords that model APIs do not support',
    fix: 'Describe the values by type, enum, properties, items and anyOf. Say the rest in a description.',
    keywords: rareKeywords,
    of: inputSchemas,
    allows: ({ path }, keyword) => path === 'inputSchema' && rootKeywords.includes(keyword),
  }),
  {
    ...should(
      'fit.property-names',
      'error of the Anthropic API: "Property keys should match pattern \'^[a-zA-Z0-9_.-]{1,64}$\'", at the root',
    ),
    title: 'every parameter at the root has a name that model APIs accept',
    fix: 'Use at most 64 letters, digits, _, - and dots.',
    inspect: (tool) =>
      nestedParameters(tool).flatMap(({ path, property }) => {
        const isAccepted = levelsOf(path) > 1 || /^[a-zA-Z0-9_.-]{1,64}$/.test(property);
        return valueProblems(isAccepted, path, 'a match of ^[a-zA-Z0-9_.-]{1,64}$', property);
      }),
  },
  {
    ...should(
      'fit.enum-size',
      'developers.openai.com/api/docs/guides/structured-outputs: 1,000 values in all, 15,000 characters in one enum of over 250',
    ),
    title: 'no inputSchema lists more allowed values than model APIs accept',
    fix: 'Use a string with the usual values as examples, or add a tool that searches for the values.',
    inspect: (tool) => enumProblems(inputSchemas(tool)),
  },
  {
    ...should(
      'fit.depth',
      'learn.microsoft.com, Azure OpenAI, structured outputs: 100 properties, 5 levels (OpenAI itself: 5,000 and 10)',
    ),
    title: `no inputSchema nests deeper than ${limits.levels} levels or has over ${limits.properties} parameters`,
    fix: 'Flatten the schema. Models fill in parameters at the root best.',
    inspect: (tool) => {
      const parameters = nestedParameters(tool);
      const deepest = parameters.find(({ path }) => levelsOf(path) > limits.levels);
      return [
        ...problemUnless(deepest === undefined, {
          path: deepest?.path ?? 'inputSchema',
          expected: `at most ${limits.levels} levels`,
          actual: `${deepest ? levelsOf(deepest.path) : 0} levels`,
        }),
        ...problemUnless(parameters.length <= limits.properties, {
          path: 'inputSchema',
          expected: `at most ${limits.properties} parameters`,
          actual: `${parameters.length}`,
        }),
      ];
    },
  },
  {
    ...should(
      'fit.one-effect',
      'claude.com/docs/connectors/building/review-criteria: separate read and write tools; developers.openai.com/plugins/plugin-guidelines: each operation a tool of its own',
    ),
    title: 'no parameter decides whether a call reads or writes',
    fix: 'Make one tool for reading and one for writing, so that their annotations can be correct.',
    inspect: (tool) => {
      const names = propertiesOf(tool.inputSchema).map(([name]) => normalize(name));
      const isOpen = names.some((name) => /^(path|endpoint|url|uri|route)$/.test(name));
      return nestedParameters(tool).flatMap((place) => {
        const isMethod = /^(http)?(method|verb)$/.test(normalize(place.property));
        const isFreeText = isMethod && isOpen && !hasItems(place.schema.enum);
        const expected = 'reading only, or writing only';
        const actual = isFreeText ? 'any method' : shorten(place.schema.enum);
        return problemsAt(!isFreeText && !mixes(place.schema.enum), place.path, expected, actual);
      });
    },
  },
  {
    ...should('fit.no-secrets', 'developers.openai.com/plugins/plugin-guidelines: restricted data'),
    title: 'no parameter requests a password, a key, a card number or the number of a document',
    fix: 'Keep the keys of your sources in the environment of the server, and request only what the tool needs.',
    inspect: (tool) => unwanted(nestedParameters(tool), secret),
  },
  {
    ...should(
      'fit.no-conversation',
      'developers.openai.com/plugins/plugin-guidelines: minimal and purpose-driven inputs; support.claude.com, Software Directory Policy, 1.F',
    ),
    title: 'no parameter requests the conversation, its history or the system prompt',
    fix: 'Request only what the tool needs from the question, each as a parameter of its own.',
    inspect: (tool) => unwanted(nestedParameters(tool), conversation),
  },
];

function unwanted(parameters: readonly Parameter[], kind: RegExp): readonly Problem[] {
  return parameters.flatMap(({ path, property }) =>
    valueProblems(!kind.test(normalize(property)), path, 'no parameter of that kind', property),
  );
}

/** Whether the value of a parameter with this name is a secret of its user. */
export function isSecretParameter(name: string): boolean {
  return secret.test(normalize(name));
}

const secret =
  /^(ssn|otp|cvv|cvc|pin)$|(password|passwd|passphrase|apikey|apisecret|secretkey|clientsecret|accesstoken|refreshtoken|privatekey|seedphrase|mnemonic|creditcard|cardnumber|socialsecuritynumber|passportnumber)$/;
const conversation =
  /^(chat|conversation|message|prompt)(history|log|transcript)$|(chathistory|conversationhistory|chattranscript|systemprompt)$/;

interface Parameter extends LocatedSchema {
  readonly property: string;
}

/** The parameters and their nested properties. */
function nestedParameters(tool: JsonObject): readonly Parameter[] {
  return inputSchemas(tool).filter((place): place is Parameter => place.property !== undefined);
}

/** The number of objects around the value at a path, including the arguments object. */
function levelsOf(path: string): number {
  return path.split('.properties.').length - 1;
}

function enumProblems(at: readonly LocatedSchema[]): readonly Problem[] {
  const enums = at.flatMap(({ schema, path }) =>
    hasItems(schema.enum) ? [{ path, values: schema.enum }] : [],
  );
  const values = enums.reduce((sum, enumeration) => sum + enumeration.values.length, 0);
  const long = enums.filter(
    (enumeration) =>
      enumeration.values.length > limits.longEnum &&
      enumeration.values.join('').length > limits.enumCharacters,
  );
  return [
    ...problemUnless(values <= limits.enumValues, {
      path: 'inputSchema',
      expected: `at most ${limits.enumValues} values of enums in all`,
      actual: `${values}`,
    }),
    ...long.map(({ path, values: listed }) => ({
      path: `${path}.enum`,
      expected: `at most ${limits.enumCharacters} characters in an enum of over ${limits.longEnum} values`,
      actual: `${listed.join('').length} characters`,
    })),
  ];
}

/** Whether some of the allowed values read and others write: HTTP methods, or names of actions. */
function mixes(values: JsonObject[string] | undefined): boolean {
  if (!hasItems(values)) return false;
  const words = values.flatMap((value) => (typeof value === 'string' ? (wordsOf(value)[0] ?? []) : []));
  const reads = words.some((word) => readingVerbs.has(word) || word === 'head');
  return reads && words.some((word) => writes(word));
}

function writes(word: string): boolean {
  const effect = effectInName(word);
  return effect !== undefined && effect !== 'reads';
}
