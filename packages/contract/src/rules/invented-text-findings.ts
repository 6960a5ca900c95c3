import { onlyReads } from '../definition/effect.ts';
import { hasEmptySignal } from '../definition/outcomes.ts';
import { isObject, objectOr, shorten } from '../json/json.ts';
import { propertiesOf, requiredOf } from '../json/keywords.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { leavesIn } from '../json/walk.ts';
import type { CallPair } from '../wire/call-pairs.ts';
import { type FoundCall, foundData } from '../wire/explored-calls.ts';
import { isFreeText } from '../wire/generated-calls.ts';
import type { InventedCall } from '../wire/invented-calls.ts';
import type { Probe } from '../wire/probe.ts';
import { inputSchemaOf } from '../wire/tool-cases.ts';
import type { CallFinding } from './call-findings.ts';
import { joinWords, toolWordsOf } from './returned-values.ts';
import { isText } from './schema-problems.ts';

/** The answer to a call, and in which of the two sessions it came. */
interface SessionAnswer {
  readonly call: Pick<FoundCall, 'tool' | 'name' | 'arguments'>;
  readonly body: string;
  readonly isInSecondSession: boolean;
}

/** Words of tools that show the requests of other callers. */
const aboutCallers =
  /\b(?:recent\w*|trend\w*|histor\w*|popular\w*|previous\w*|activit(?:y|ies)|audit\w*|logs?|suggest\w*)\b/;

/** Invented texts in an answer to another session, at most one for each tool that answers. */
export function leakedTexts(
  calls: readonly InventedCall[],
  pairs: readonly CallPair[],
): readonly CallFinding[] {
  const invented: SessionAnswer[] = calls.map((call) => ({ ...call, call, body: call.rpc.http.body }));
  const paired = pairs.flatMap(({ first, second = first, answers }) =>
    answers.map(({ call, data, isInSecondSession }): SessionAnswer => {
      return { call: call === 'first' ? first : second, body: JSON.stringify(data), isInSecondSession };
    }),
  );
  const readingCalls = calls.filter(({ tool }) => onlyReads(tool));
  const byTool = new Map<string, CallFinding>();
  for (const { call, body, isInSecondSession } of [...invented, ...paired]) {
    const { tool, name, arguments: args } = call;
    if (byTool.has(name)) continue;
    const words = joinWords([toolWordsOf(tool), JSON.stringify(tool.outputSchema)]);
    if (aboutCallers.test(words)) continue;
    const text = body.toLowerCase();
    const sender = readingCalls.find(
      (candidate) => candidate.isInSecondSession !== isInSecondSession && text.includes(candidate.marker),
    );
    if (!sender) continue;
    byTool.set(name, {
      expected: 'no text that only another session has sent',
      actual: `${sender.marker}, which ${sender.name} got in another session`,
      calls: [{ name, arguments: args }, sender],
    });
  }
  return [...byTool.values()];
}

/** Words of a tool or a parameter that searches by a text. */
const searching =
  /\b(?:search\w*|find\w*|look(?:s|ing)? ?up|match\w*|quer(?:y|ies)|q|keywords?|terms?|phrases?)\b/;

/** Parameters whose text says how to answer, or for whom, and not what to find. */
const setting =
  /\b(?:lang\w*|locale|currency|units?|format|time ?zone|country|region|reason|purpose|intent|context|users?|emails?|accounts?|wallet|address|keys?|tokens?|versions?)\b/;

/** Whether a tool searches by the text of a parameter. */
function searchesBy(tool: JsonObject, [name, { description }]: readonly [string, JsonObject]): boolean {
  if (setting.test(joinWords([name]))) return false;
  return searching.test(`${toolWordsOf(tool)} ${joinWords([name, description])}`);
}

/** Whether a call searches a list by all texts that it must give: then nothing found is no mistake of the caller. */
export function searchesList({ tool }: Pick<InventedCall, 'tool'>): boolean {
  const schema = inputSchemaOf(tool);
  const required = new Set(requiredOf(schema));
  const texts = propertiesOf(schema).filter(([name, property]) => required.has(name) && isFreeText(property));
  const hasList = propertiesOf(objectOr(tool.outputSchema)).some(([, { type }]) =>
    [type].flat().includes('array'),
  );
  return hasList && texts.every((parameter) => searchesBy(tool, parameter));
}

/** The same list for two invented texts and for each real one, where nothing else must be given. */
export function listForAnyText(
  calls: readonly [FoundCall, ...FoundCall[]],
  inventedCalls: readonly InventedCall[],
  { target }: Probe,
): CallFinding | undefined {
  const { tool, name } = calls[0];
  const schema = inputSchemaOf(tool);
  const [required, ...otherRequired] = requiredOf(schema);
  const parameter = propertiesOf(schema).find(([property]) => property === required);
  if (!parameter || otherRequired.length > 0 || !searchesBy(tool, parameter)) return undefined;
  const [key, { examples, default: defaultValue }] = parameter;
  const realValues = [examples, defaultValue].flat();
  const expectedCalls = (target.examples?.get(name) ?? []).filter(({ expect }) => expect === 'found');
  realValues.push(...expectedCalls.map(({ arguments: args }) => args[key]));
  const invented = inventedCalls.filter((call) => call.name === name);
  const otherArguments = ({ arguments: args }: Pick<FoundCall, 'arguments'>) =>
    JSON.stringify({ ...args, [key]: null });
  const realCalls = calls.filter(
    (call) =>
      realValues.includes(call.arguments[key]) &&
      invented.every((candidate) => otherArguments(candidate) === otherArguments(call)),
  );
  const [first, second] = invented.map(({ result }) => foundData(result));
  const [real] = realCalls;
  if (!first || !second || !real || target.sampled?.has(name)) return undefined;
  const sameList = JSON.stringify(listsIn(first));
  if (sameList === '[]' || [first, second].some((data) => hasEmptySignal(data))) return undefined;
  const otherData = [second, ...realCalls.map(({ data }) => data)];
  if (otherData.some((data) => JSON.stringify(listsIn(data)) !== sameList)) return undefined;
  const isNote = (value: Json) =>
    isText(value) &&
    /\S\s+\S/.test(value) &&
    !invented.some(({ marker }) => value.includes(marker)) &&
    !Object.values(real.data).includes(value);
  if (Object.values(first).some(isNote)) return undefined;
  return {
    expected: `a list that depends on ${key}`,
    actual: `${shorten(listsIn(first)[0])} for ${shorten(real.arguments[key])} and for two invented texts`,
    calls: [real, ...invented.slice(0, 1)],
  };
}

function listsIn(data: JsonObject): readonly Json[] {
  return Object.values(data).filter((value) => Array.isArray(value) && value.length > 0);
}

/** Tools that make their data from the text, and lists that say how it was read. */
const computing =
  /\b(?:generat\w*|translat\w*|analy[sz]\w*|token\w*|pars\w*|convert\w*|transform\w*|encod\w*|decod\w*|hash\w*|format\w*|validat\w*|check\w*|suggest\w*|complet\w*|simulat\w*|estimat\w*|comput\w*|calculat\w*|draft\w*|recent\w*|trend\w*|histor\w*|filters?|input|interpret\w*|highlight\w*|availab\w*|links?)\b/;

const naming = /^(?:id|name|title|label|symbol|ticker|code|slug|handle|username)$/i;

/** Words of an entry that stands for something else than what was found. */
const notFound =
  /\b(?:no|not|none|unknown|missing|invalid|unavailable|search|try|did you mean|create|new)\b|_not_/i;

/** An entry that is named as the invented text and has further values. */
export function inventedEntry(calls: readonly InventedCall[]): readonly CallFinding[] {
  const byTool = new Map<string, CallFinding>();
  for (const { tool, name, arguments: args, result, marker } of calls) {
    const data = foundData(result);
    const isSearch = searching.test(toolWordsOf(tool)) && !computing.test(toolWordsOf(tool));
    if (!data || !isSearch || hasEmptySignal(data) || byTool.has(name)) continue;
    const entries = Object.entries(data)
      .filter(([list]) => !repeatsText(joinWords([list])))
      .flatMap(([, value]) => (Array.isArray(value) ? value.filter(isObject) : []));
    const entry = entries.find((candidate) => isInvented(candidate, marker));
    if (!entry) continue;
    byTool.set(name, {
      expected: 'no entry for an invented text: an empty list with searchExhausted: true or noResultsReason',
      actual: shorten(entry),
      calls: [{ name, arguments: args }],
    });
  }
  return [...byTool.values()];
}

/** Whether the words of a list say that it shows how the text was read. */
function repeatsText(words: string): boolean {
  return searching.test(words) || computing.test(words);
}

function isInvented(entry: JsonObject, marker: string): boolean {
  const isNamed = Object.entries(entry).some(
    ([member, value]) => naming.test(member) && isText(value) && value.toLowerCase().includes(marker),
  );
  const values = [...leavesIn(entry)].map(([, value]) => value);
  const isOther = values.some((value) => value === false || (isText(value) && notFound.test(value)));
  return isNamed && !isOther && values.some((value) => typeof value === 'number' && value !== 0);
}

/** An accented letter of an invented text that comes back as the two characters of its bytes. */
export function misreadAccents(calls: readonly InventedCall[]): readonly CallFinding[] {
  return calls.flatMap(({ name, arguments: args, rpc, marker }) => {
    const body = JSON.stringify(rpc.response ?? {});
    const repeated = new RegExp(`${marker}.?(?:Ã©|\ufffd)`, 'i').exec(body)?.[0];
    if (repeated === undefined) return [];
    return [
      {
        expected: `${marker} é, as it was sent`,
        actual: repeated,
        calls: [{ name, arguments: args }],
      },
    ];
  });
}
