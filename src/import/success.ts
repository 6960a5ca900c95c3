import { isBlank, isObject, type Json, type JsonObject } from 'market-mcp-contract/json';

/** Names of members that say how a request went, in lower case without separators. */
const names =
  /^(?:(?:http|status|return|response|result|request|api|error|err)?(?:status|code|message|msg|info|reason|description|text|type)|cod|errors?|success|ok|result|response|meta|headers?)$/;

/** The values of such a member that mean success in any API. */
const values = /^(?:ok(?:ay)?|no_?error|none|success(?:ful|fully)?|succeeded|true|yes|[01]|200)?$/i;

/**
 * The members of all answers that say success with one value, at the root or in a member that says how the request went: `status: "OK"`,
 * `"status.code": 200`, `error: null`; undefined if there is none.
 *
 * @param answers of an API, as it sends them, without their envelopes
 */
export function successMembersOf(answers: readonly Json[]): JsonObject | undefined {
  const [first, ...others] = answers.map((answer) => new Map(saidIn(answer)));
  const same = [...(first ?? [])].filter(([path, value]) =>
    others.every((other) => other.get(path) === value),
  );
  return same.length === 0 ? undefined : Object.fromEntries(same);
}

/**
 * The members that say success, corrected by answers that have data: those of two answers and more if a request names none, else
 * without values in whose place other ones say success, too.
 *
 * @param present what the request names
 * @returns undefined if it stays as it is
 */
export function correctedSuccess(
  answers: readonly Json[],
  present: JsonObject | undefined,
): JsonObject | undefined {
  const own = answers.filter(hasData);
  const same = successMembersOf(own);
  if (!present) return own.length > 1 ? same : undefined;
  const said = own.flatMap((answer) => saidIn(answer));
  const isWrong = (path: string) => said.some(([at, value]) => at === path && value !== present[path]);
  if (!Object.keys(present).some(isWrong)) return undefined;
  const kept = Object.entries(present).flatMap(([path, value]) => {
    const other = isWrong(path) ? same?.[path] : value;
    return other === undefined ? [] : [[path, other]];
  });
  return Object.fromEntries(kept);
}

/** Whether a member has a value that is not about the request. */
function hasData(answer: Json): boolean {
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

function saidIn(answer: Json, above = ''): readonly (readonly [path: string, value: Json])[] {
  if (!isObject(answer)) return [];
  return Object.entries(answer).flatMap(([name, value]) => {
    if (name.includes('.') || !isAboutRequest(name)) return [];
    if (isObject(value)) return above === '' ? saidIn(value, `${name}.`) : [];
    return isSuccess(name, value) ? [[`${above}${name}`, value]] : [];
  });
}

function isSuccess(name: string, value: Json): boolean {
  if (value === null || value === false || value === '') return /^err/i.test(name);
  return typeof value !== 'object' && values.test(String(value));
}
