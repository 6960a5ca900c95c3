import { isBlank, isObject, type Json, type JsonObject } from 'market-mcp-contract/json';

/** Names of members that say how a request went, in lower case without separators. */
const names =
  /^(?:(?:http|status|return|response|result|request|api|error|err)?(?:status|code|message|msg|info|reason|description|text|type)|stat|ret|cod|errors?|success|ok|result|response|meta|headers?)$/;

/** The values of such a member that mean success in any API. */
const values = /^(?:ok(?:ay)?|no_?error|none|success(?:ful|fully)?|succeeded|true|yes|[01]|200)?$/i;

/** Further values of a code: `"00"`, `"200000"`. */
const codes = /^(?:0+|10+|200(?:00)*)$/;

/** Objects so deep are searched for signs. */
const deepest = 3;

/**
 * The members of all answers that state success by one value, at the root or in a member that says how the request went: `status: "OK"`,
 * `"status.code": 200`, `error: null`; undefined if there is none.
 *
 * @param answers of an API, as it sends them, without their envelopes
 */
export function successMembersOf(answers: readonly Json[]): JsonObject | undefined {
  const [first, ...otherAnswers] = answers.map((answer) => new Map(successSigns(answer)));
  const commonMembers = [...(first ?? [])].filter(([path, value]) =>
    otherAnswers.every((otherAnswer) => otherAnswer.get(path) === value),
  );
  if (commonMembers.length === 0) return undefined;
  return Object.fromEntries(commonMembers);
}

/**
 * The members that say success, corrected by answers that have data: those of two answers and more if a request names none, else without
 * values instead of which other ones also mean success.
 *
 * @param present what the request names
 * @returns undefined if it stays unchanged
 */
export function correctedSuccess(
  answers: readonly Json[],
  present: JsonObject | undefined,
): JsonObject | undefined {
  const answersWithData = answers.filter(memberHasData);
  const commonMembers = successMembersOf(answersWithData);
  if (!present) return answersWithData.length > 1 ? commonMembers : undefined;
  const statedMembers = answersWithData.flatMap((answer) => successSigns(answer));
  const isWrong = (path: string) =>
    statedMembers.some(([at, value]) => at === path && value !== present[path]);
  if (!Object.keys(present).some(isWrong)) return undefined;
  const keptMembers = Object.entries(present).flatMap(([path, value]) => {
    const expected = isWrong(path) ? commonMembers?.[path] : value;
    if (expected === undefined) return [];
    return [[path, expected]];
  });
  return Object.fromEntries(keptMembers);
}

/** Whether a member has a value that is not about the request. */
function memberHasData(answer: Json): boolean {
  if (!isObject(answer)) return false;
  return Object.entries(answer).some(([name, value]) => {
    const isOther =
      !isAboutRequest(name) || (typeof value === 'object' && /^(?:result|response)$/i.test(name));
    return isOther && !isBlank(value);
  });
}

function isAboutRequest(name: string): boolean {
  return names.test(name.toLowerCase().replaceAll(/[^a-z]/g, ''));
}

/** The signs of an answer: at its root, in members about the request, and in an object that is the only member of its parent. */
function successSigns(
  answer: Json,
  parentPath: readonly string[] = [],
): readonly (readonly [path: string, value: Json])[] {
  if (!isObject(answer)) return [];
  const entries = Object.entries(answer);
  return entries.flatMap(([name, value]) => {
    const path = [...parentPath, name];
    if (name.includes('.')) return [];
    if (isObject(value)) {
      const isSearched = entries.length === 1 || isAboutRequest(name);
      if (isSearched && path.length < deepest) return successSigns(value, path);
      return [];
    }
    if (isAboutRequest(name) && isSuccess(name, value)) return [[path.join('.'), value]];
    return [];
  });
}

function isSuccess(name: string, value: Json): boolean {
  if (value === null || value === false || value === '') return /^err/i.test(name);
  if (typeof value === 'object') return false;
  return values.test(String(value)) || (/(?:code|status|cod)$/i.test(name) && codes.test(String(value)));
}
