import { isObject, objectOr, shorten } from '../json/json.ts';
import { propertiesOf, typesOf } from '../json/keywords.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { leavesIn } from '../json/walk.ts';
import type { FoundCall } from '../wire/explored-calls.ts';
import type { Probe } from '../wire/probe.ts';
import { inputSchemaOf } from '../wire/tool-cases.ts';
import { type CallFinding, callsWith } from './call-findings.ts';
import { joinWords } from './returned-values.ts';

/** Numbers of an answer that contradict each other: a count that follows its list at a distance, a mean beyond its bounds. */
export function contradicting(calls: readonly [FoundCall, ...FoundCall[]]): CallFinding | undefined {
  return undercounted(calls) ?? miscounted(calls) ?? disordered(calls);
}

const counting = /^(?:count|total|size|length|returned|total_?\w+|num(?:ber)?_?\w+|\w+_?(?:count|total))$/i;

/** A count of what is counted otherwise, such as the different ones. */
const otherCount = /\b(?:distinct|unique|different|per|pages?|groups?)\b/i;

/** A count below the length of the only list: what exists cannot be less than what is returned. */
function undercounted(calls: readonly [FoundCall, ...FoundCall[]]): CallFinding | undefined {
  for (const call of calls) {
    const { count } = call.data;
    const lists = Object.values(call.data).filter(Array.isArray);
    const [list] = lists;
    const { description = '' } = objectOr(objectOr(objectOr(call.tool.outputSchema).properties).count);
    if (!list || lists.length > 1 || !Number.isInteger(count) || otherCount.test(String(description)))
      continue;
    if (Number(count) >= list.length) continue;
    return {
      expected: `count: ${list.length}, the number of entries`,
      actual: `count: ${count}`,
      calls: [call],
    };
  }
  return undefined;
}

/** In three answers with lists of different lengths the same distance: the count of all that exist would not follow the list. */
function miscounted(calls: readonly [FoundCall, ...FoundCall[]]): CallFinding | undefined {
  for (const name of Object.keys(calls[0].data).filter((key) => counting.test(key))) {
    const counts = calls.flatMap((call) => {
      const lists = Object.values(call.data).filter(Array.isArray);
      const count = call.data[name];
      const [list] = lists;
      if (list && lists.length === 1 && Number.isInteger(count))
        return [{ call, length: list.length, distance: Number(count) - list.length }];
      return [];
    });
    const [first] = counts;
    const lengths = new Map(counts.map((count) => [count.length, count]));
    if (!first || first.distance === 0 || counts.length < 3 || lengths.size < 2) continue;
    if (counts.some(({ distance }) => distance !== first.distance)) continue;
    return {
      expected: `${name}: ${first.length}, the number of entries`,
      actual: `${name}: ${first.length + first.distance}, and as far off in all ${counts.length} answers`,
      calls: [...lengths.values()].slice(0, 2).map(({ call }) => call),
    };
  }
  return undefined;
}

type Statistic = 'min' | 'mean' | 'max';
const statistics: Readonly<Record<string, Statistic>> = {
  min: 'min',
  minimum: 'min',
  max: 'max',
  maximum: 'max',
  mean: 'mean',
  avg: 'mean',
  average: 'mean',
  median: 'mean',
};

/** `min_price`, `priceMax` and `max` as the statistic and its subject, without case and separators. */
function statisticIn(name: string): { readonly of: string; readonly is: Statistic } | undefined {
  const words = parameterWords(name);
  const at = [0, words.length - 1].find((place) => Object.hasOwn(statistics, words[place] ?? ''));
  const is = at === undefined ? undefined : statistics[words[at] ?? ''];
  return is && { of: words.filter((_, place) => place !== at).join(' '), is };
}

type NamedNumber = readonly [name: string, value: number];

/** An object with a minimum above a mean or a maximum. */
function disordered(calls: readonly [FoundCall, ...FoundCall[]]): CallFinding | undefined {
  for (const call of calls) {
    for (const object of objectsIn(call.data)) {
      const wrongOrder = wrongOrderIn(object);
      if (!wrongOrder) continue;
      const [[low, least], [high, highest]] = wrongOrder;
      return {
        expected: `${low} at most as large as ${high}`,
        actual: `${low}: ${least}, ${high}: ${highest}`,
        calls: [call],
      };
    }
  }
  return undefined;
}

/** Two numbers of an object of which the first should not be larger, and is. */
function wrongOrderIn(object: JsonObject): readonly [NamedNumber, NamedNumber] | undefined {
  const { open, close, high, low } = object;
  const isCandle = [open, close, high, low].every((value) => typeof value === 'number');
  if (isCandle && Number(high) < Number(low))
    return [
      ['low', Number(low)],
      ['high', Number(high)],
    ];
  for (const { min, mean, max } of statisticsIn(object)) {
    const wrongOrder = reversed(min, max) ?? reversed(mean, max) ?? reversed(min, mean);
    if (wrongOrder) return wrongOrder;
  }
  return undefined;
}

/** The statistics that an object has of each of its subjects. */
function statisticsIn(object: JsonObject): Iterable<Partial<Record<Statistic, NamedNumber>>> {
  const bySubject = new Map<string, Partial<Record<Statistic, NamedNumber>>>();
  for (const [name, value] of Object.entries(object)) {
    const statistic = typeof value === 'number' ? statisticIn(name) : undefined;
    if (!statistic) continue;
    const { of: subject, is } = statistic;
    bySubject.set(subject, { ...bySubject.get(subject), [is]: [name, Number(value)] });
  }
  return bySubject.values();
}

/** Two numbers in the wrong order. Rounding moves a number by less than one. */
function reversed(
  low: NamedNumber | undefined,
  high: NamedNumber | undefined,
): readonly [NamedNumber, NamedNumber] | undefined {
  if (low && high && Math.floor(low[1]) > Math.ceil(high[1])) return [low, high];
  return undefined;
}

/** The objects inside of data, up to a number that shows what all are like. */
function objectsIn(data: JsonObject): readonly JsonObject[] {
  const found: JsonObject[] = [];
  const open: Json[] = [data];
  for (let value = open.shift(); value !== undefined && found.length < 100; value = open.shift()) {
    if (isObject(value)) found.push(value);
    if (typeof value === 'object' && value !== null) open.push(...Object.values(value).slice(0, 100));
  }
  return found;
}

/** An entry below or above the bound that the call gave for its field: `min_price` for `price`. */
export async function beyondBounds(
  calls: readonly [FoundCall, ...FoundCall[]],
  probe: Probe,
): Promise<CallFinding | undefined> {
  for (const [name, schema] of propertiesOf(inputSchemaOf(calls[0].tool))) {
    const bound = statisticIn(name);
    const isNumber = typesOf(schema).some((type) => type === 'number' || type === 'integer');
    if (!isNumber || !bound || bound.is === 'mean' || bound.of === '') continue;
    const isMinimum = bound.is === 'min';
    const boundedCall = boundByMedian(calls, bound.of);
    for (const { call, limit } of await callsWith(probe, calls, name, boundedCall)) {
      const beyond = numbersNamed(bound.of, call).find((value) =>
        isMinimum ? value < limit : value > limit,
      );
      if (beyond === undefined) continue;
      const word = isMinimum ? 'least' : 'most';
      return {
        expected: `${bound.of} of at ${word} ${limit} in every entry, as ${name} asks`,
        actual: `${shorten(beyond)} in an entry`,
        calls: [call],
      };
    }
  }
  return undefined;
}

/** A call that found several values of a field, and their median, which is the bound of a further call. */
function boundByMedian(calls: readonly FoundCall[], field: string) {
  const call = calls.find((candidate) => new Set(numbersNamed(field, candidate)).size > 1);
  if (!call) return undefined;
  const values = numbersNamed(field, call).toSorted((left, right) => left - right);
  const median = values[values.length >> 1];
  return median === undefined ? undefined : { call, limit: median };
}

/** The numbers of a field in the entries of an answer. */
function numbersNamed(field: string, { data }: FoundCall): readonly number[] {
  const members = objectsIn(data).flatMap((entry) => Object.entries(entry));
  return members
    .filter(([name]) => parameterWords(name).join(' ') === field)
    .map(([, value]) => value)
    .filter((value) => typeof value === 'number');
}

function parameterWords(name: string): readonly string[] {
  return name.split(/[_\s.-]+|(?<=[a-z\d])(?=[A-Z])/).map((word) => word.toLowerCase());
}

/** Names of fields that identify an entry. */
const identifying = ['id', 'symbol', 'ticker', 'slug', 'code', 'isin', 'sku', 'name'];

/** Fields that count or number something. */
const countingField = /\b(?:counts?|total|rank|index|position|page|limit|size|year|number|id)\b/;

const unit =
  /[%$€£]|\b(?:cents?|pence|dollars?|euros?|usd|eur|gbp|percent\w*|fractions?|ratio|basis points?|bps|thousands?|millions?|kilo\w*|milli\w*|micro\w*|nano\w*|centi\w*|k?g|mg|grams?|tons?|tonnes?|km|cm|mm|met(?:er|re)s?|miles?|ms|seconds?|minutes?|hours?|days?|wei|gwei|satoshis?|sats?|lamports?|bytes?|kb|mb|watts?|k?wh|hz|ppm|celsius|units?)\b/;

interface Measured {
  readonly call: FoundCall;
  readonly value: number;
}

/** A field that is 100 or 1,000 times as large in another tool, for all entries that both have, where no description names a unit. */
export function unlikeUnits(
  tools: readonly (readonly [FoundCall, ...FoundCall[]])[],
): CallFinding | undefined {
  const measuredByTool = tools.map((calls) => ({ tool: calls[0].tool, fields: measuredFields(calls) }));
  for (const [at, left] of measuredByTool.entries()) {
    for (const right of measuredByTool.slice(at + 1)) {
      for (const [field, values] of left.fields) {
        const factor = factorBetween(values, right.fields.get(field));
        if (!factor || [left, right].some(({ tool }) => unit.test(descriptionsOf(tool, field)))) continue;
        const [id, first, second] = factor;
        return {
          expected: `the same ${field} of ${id} from ${first.call.name} and ${second.call.name}, or a unit in their descriptions`,
          actual: `${first.value} and ${second.value}`,
          calls: [first.call, second.call],
        };
      }
    }
  }
  return undefined;
}

/** The first value of both, if all that both have differ by the same factor of 100 or 1,000. */
function factorBetween(
  left: ReadonlyMap<string, Measured>,
  right: ReadonlyMap<string, Measured> = new Map(),
): readonly [id: string, left: Measured, right: Measured] | undefined {
  const shared = [...left].flatMap(([id, leftField]) => {
    const rightField = right.get(id);
    if (rightField) return [[id, leftField, rightField] as const];
    return [];
  });
  const [first] = shared;
  if (!first) return undefined;
  const [, { value }] = first;
  // A round number may be 100 times another one by chance.
  const isRound = shared.length === 1 && /^[1-9]0*$/.test(String(Math.abs(value)));
  const hasFactor = (factor: number) =>
    shared.every(([, leftField, rightField]) => {
      const ratio = leftField.value / rightField.value;
      return Math.abs(ratio / factor - 1) < 1e-9;
    });
  if (!isRound && [100, 1_000, 1 / 100, 1 / 1_000].some(hasFactor)) return first;
  return undefined;
}

/** The numbers of the identified objects in answers, by field and id, without those that vary from call to call. */
function measuredFields(
  calls: readonly [FoundCall, ...FoundCall[]],
): ReadonlyMap<string, ReadonlyMap<string, Measured>> {
  const fields = new Map<string, Map<string, Measured>>();
  const varying = new Set<string>();
  for (const { field, id, measured } of calls.flatMap(measuredIn)) {
    const values = fields.get(field) ?? new Map<string, Measured>();
    fields.set(field, values);
    const earlier = values.get(id);
    if (earlier && earlier.value !== measured.value) varying.add(`${field} ${id}`);
    values.set(id, earlier ?? measured);
  }
  for (const [field, values] of fields)
    for (const id of values.keys()) if (varying.has(`${field} ${id}`)) values.delete(id);
  return fields;
}

interface MeasuredField {
  readonly field: string;
  readonly id: string;
  readonly measured: Measured;
}

/** The numbers of the identified objects in an answer. */
function measuredIn(call: FoundCall): readonly MeasuredField[] {
  const measuredMembers: MeasuredField[] = [];
  for (const object of objectsIn(call.data)) {
    const owner = object === call.data ? { ...call.arguments, ...object } : object;
    const idName = identifying.find((name) => isId(owner[name]));
    if (idName === undefined) continue;
    const id = `${idName} ${owner[idName]}`;
    for (const [field, value] of Object.entries(object)) {
      if (typeof value !== 'number' || value === 0 || countingField.test(joinWords([field]))) continue;
      measuredMembers.push({ field, id, measured: { call, value } });
    }
  }
  return measuredMembers;
}

function isId(value: Json | undefined): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}

/** What a tool says about itself and about the fields of this name. */
function descriptionsOf({ title, description, outputSchema = null }: JsonObject, field: string): string {
  const ofField = [...leavesIn(outputSchema)].filter(
    ([path]) => path.endsWith(`.${field}.description`) || path.endsWith(`.${field}.title`),
  );
  return joinWords([title, description, ...ofField.map(([, text]) => text)]);
}
