import { hasEmptySignal } from '../definition/outcomes.ts';
import { shorten } from '../json/json.ts';
import type { Json } from '../json/value.ts';
import { leavesIn } from '../json/walk.ts';
import type { Problem } from '../model.ts';
import { addressScope } from '../wire/address.ts';
import type { Probe } from '../wire/probe.ts';
import { mergeLive } from './cases.ts';
import { injections } from './fit-text.ts';
import { ofData, traces } from './result.ts';
import {
  firstOfEachTool,
  longDigitsOf,
  type Returned,
  returnedCalls,
  searchingValues,
  toolWordsOf,
} from './returned-values.ts';
import { type LiveRule, should } from './rule.ts';
import { isText } from './schema-problems.ts';

/** Longer texts are not read to their end. */
const mostRead = 20_000;

/** Tools whose data may quote programs and what they print. */
const aboutPrograms =
  /\b(?:stack|traces?|crash(?:es)?|exceptions?|errors?|failures?|logs?|debug\w*|bugs?|issues?|code|scripts?|javascript|program\w*|software|snippets?|examples?|docs?|documentation|files?|commits?|diffs?|posts?|comments?|threads?|articles?|pages?|emails?|tickets?)\b/;

/** A frame of a stack trace of JavaScript. A case of answers.no-stack. */
export const frameInData: LiveRule = searchingValues({
  ...should('result.no-stack', 'OWASP, error handling'),
  title: 'no data contains a stack trace of the server',
  fix: 'Log the error, and return your own code and a short message with isError: true.',
  expected: 'data without a stack trace',
  find: ({ value, toolWords, fieldWords }) =>
    aboutPrograms.test(`${toolWords} ${fieldWords}`)
      ? undefined
      : match(value, /\bat (?:[\w$.<> ]{1,100} \()?(?:file:\/\/)?(?:\/|[A-Z]:\\)[^\n"()]{1,200}:\d+:\d+\)?/),
});

/** What a program writes into a text for a value that was missing: a number with its unit or after its label, a name, an object. */
const unfilled = new RegExp(
  [
    String.raw`\[object [A-Z]\w*\]`,
    String.raw`[:=$€£(]\s?NaN\b|\b(?:is|was|of|at|to|by|from|costs?)\s[$€£]?NaN\b`,
    String.raw`\bNaN\s?(?:%|°|(?:[A-Z]{3}|k?m|kg|ms|s|h|days?|hours?|minutes?|percent|degrees?|points?)\b)`,
    String.raw`(?:\b(?:of|for|in|at|from|to|by)|[:=$€£#])\s?undefined(?=$|[.,;:!?)%]|\s(?:is|was|has|in|at|on)\b)`,
    String.raw`^undefined(?=:|\s?(?:%|[A-Z]{3}\b))`,
  ].join('|'),
);

/** Tools whose data may name machines that only their callers reach. */
const aboutMachines =
  /\b(?:networks?|hosts?|hosting|clusters?|pods?|docs?|documentation|containers?|devices?|routers?|prox(?:y|ies)|ports|localhost|private|internal|deploy\w*|debug\w*)\b/;

/** Tools and fields whose values may be a page. */
const aboutPages =
  /\b(?:html|pages?|content|body|markup|web|websites?|crawl\w*|scrap\w*|emails?|snapshots?)\b/;

const aboutFiller =
  /\b(?:lorem|ipsum|placeholders?|filler|dummy|samples?|mock\w*|typograph\w*|fonts?|latin)\b/;

const lost = /^(NaN|-?Infinity|undefined|Invalid Date|\[object [A-Za-z]+\])$/;

const lostValues = ofData({
  ...should('result.no-lost-values', 'C§2.2'),
  title: 'no result contains traces of a value that JSON cannot represent',
  fix: 'Return null, or convert the value to a number or an ISO date yourself.',
  findProblems: ({ structuredContent }) =>
    structuredContent === undefined
      ? undefined
      : traces(structuredContent, lost, 'a value that JSON can represent'),
});

/** What the data of successful calls should not contain. */
export const resultValueRules: readonly LiveRule[] = [
  mergeLive({ title: lostValues.title, turn: 'last' }, [
    lostValues,
    searchingValues({
      ...should('result.no-unfilled-text', 'C§2.2'),
      title: 'no text has undefined, NaN or [object Object] in the place of a value',
      fix: 'Build the text only if the value exists. Return null where it is missing.',
      expected: 'a text with the value in this place',
      find: ({ value, toolWords, fieldWords }) =>
        aboutPrograms.test(`${toolWords} ${fieldWords}`) || match(value, lost)
          ? undefined
          : match(value, unfilled),
    }),
    searchingValues({
      ...should('result.no-long-integer', 'C§2.2; RFC 8259 §6'),
      title: 'no integer has more digits than a double holds',
      fix: 'Return the integer as a text, and declare it as a string: most readers change its last digits.',
      expected: 'an integer up to 2^53, or a text',
      find: (returned) =>
        /\b(?:times?|timestamps?|dates?|nano\w*|epoch|ns|\w+ed at)\b/.test(returned.fieldWords)
          ? undefined
          : longDigitsOf(returned),
    }),
  ]),
  searchingValues({
    ...should('result.public-links', 'C§2.2'),
    title: 'no link in a result leads to localhost or to a private address',
    fix: 'Build links from the public address of the source: the caller is on another machine.',
    expected: 'an address that a caller reaches',
    find: ({ value, toolWords, fieldWords }, probe) =>
      aboutMachines.test(`${toolWords} ${fieldWords}`) ? undefined : privateLink(value, probe),
  }),
  searchingValues({
    ...should('result.no-page', 'C§2.2, C§7'),
    title: 'no value is a whole HTML page',
    fix: 'Look at the status and the Content-Type of the source first. An error page is a failure: isError: true.',
    expected: 'a value of the data',
    find: ({ value, toolWords, fieldWords }) =>
      aboutPages.test(`${toolWords} ${fieldWords}`)
        ? undefined
        : match(value, /^\s*<(?:!doctype html|html)\b/i),
  }),
  searchingValues({
    ...should('result.no-filler', 'C§1.7'),
    title: 'no value is filler text',
    fix: 'Return the real text of the source, or null.',
    expected: 'a text of the data',
    find: ({ value, toolWords, fieldWords, call }, { target }) =>
      target.sampled?.has(call.name) || aboutFiller.test(`${toolWords} ${fieldWords}`)
        ? undefined
        : match(value, /\blorem ipsum\b/i),
  }),
  {
    ...should('result.no-instructions', 'OWASP MCP Top 10, MCP03 tool poisoning'),
    title: 'no result gives the same instructions to the model, whatever the arguments are',
    fix: 'Return data only. Say in the description of the tool how its result is to be read.',
    turn: 'last',
    check: async (probe) => instructionProblems(await returnedCalls(probe)),
  },
  {
    ...should('result.timely', 'C§1.7'),
    title: 'the time of a result is neither in the future nor long ago',
    fix: 'Set fetchedAt when the source has answered, in UTC, and fetch live data again.',
    turn: 'last',
    check: async (probe) => firstOfEachTool(await returnedCalls(probe), (call) => timeProblem(call, probe)),
  },
];

function match(value: Json, pattern: RegExp): string | undefined {
  if (typeof value === 'string') return pattern.exec(value.slice(0, mostRead))?.[0];
  return undefined;
}

/** An address that only this machine or its network reaches, unless it is an address of the server itself. */
function privateLink(value: Json, { url: own }: Probe): string | undefined {
  const links =
    typeof value === 'string' ? (value.slice(0, mostRead).match(/\bhttps?:\/\/[^\s"'<>)\]]+/gi) ?? []) : [];
  return links.find((link) => {
    if (!URL.canParse(link)) return false;
    const url = new URL(link);
    const isOwn = url.host === own.host || (addressScope(own) === 'loopback' && url.port === own.port);
    return !isOwn && (addressScope(url) === 'loopback' || privateHost.test(url.hostname));
  });
}

/** RFC 1918 */
const privateHost = /^(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d+){2,3}$/;

/** A text of at least three results for different arguments that gives instructions to the model. */
function instructionProblems(calls: readonly Returned[]): readonly Problem[] {
  return firstOfEachTool(calls, (call) => {
    const siblings = new Map(
      calls
        .filter(({ name, data }) => name === call.name && !hasEmptySignal(data))
        .map((sibling) => [JSON.stringify(sibling.arguments), JSON.stringify(sibling.data)]),
    );
    if (siblings.size < 3) return undefined;
    for (const [, text] of leavesIn(call.data)) {
      if (!isText(text)) continue;
      const found = injections.find(({ concernsResults, pattern }) => concernsResults && pattern.test(text));
      if (!found || ![...siblings.values()].every((data) => data.includes(JSON.stringify(text)))) continue;
      return {
        expected: 'data',
        actual: `${found.flaw}: ${shorten(text)}, in all ${siblings.size} results`,
      };
    }
    return undefined;
  });
}

const dayMs = 24 * 60 * 60 * 1_000;
const timeNames = ['fetchedAt', 'asOf'] as const;

/** A time at the root of the data that the source cannot have. */
function timeProblem({ name, tool, data }: Returned, { target }: Probe): Problem | undefined {
  if (target.sampled?.has(name)) return undefined;
  const words = toolWordsOf(tool);
  const isForecast =
    /\b(?:forecast\w*|predict\w*|project(?:ion|ed)\w*|future\w*|schedul\w*|simulat\w*|upcoming|calendar)\b/.test(
      words,
    );
  const isLive =
    /\b(?:live|current|currently)\b/.test(words) && !/\b(?:histor\w*|past|archive\w*|previous)\b/.test(words);
  // A recorded source is as old as its recording.
  const isRecorded = target.owned !== undefined && target.mayCallLiveApis !== true;
  for (const member of timeNames) {
    const time = timeOf(data[member]);
    const ageMs = Date.now() - time;
    const actual = shorten(data[member]);
    if (ageMs < -dayMs && !(member === 'asOf' && isForecast))
      return { path: `result.${member}`, expected: 'a time that is not in the future', actual };
    if (ageMs > 30 * dayMs && isLive && !isRecorded)
      return {
        path: `result.${member}`,
        expected: 'a time of the last 30 days, as the tool is live',
        actual,
      };
  }
  return undefined;
}

/** Milliseconds since 1970; NaN if the value is no full date. */
function timeOf(value: Json | undefined): number {
  if (isText(value) && /^\d{4}-\d\d-\d\d/.test(value)) return Date.parse(value);
  return Number.NaN;
}
