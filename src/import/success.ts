import { isObject, type Json, type JsonObject } from 'market-mcp-contract/json';

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

function saidIn(answer: Json, above = ''): readonly (readonly [path: string, value: Json])[] {
  if (!isObject(answer)) return [];
  return Object.entries(answer).flatMap(([name, value]) => {
    if (name.includes('.') || !names.test(name.toLowerCase().replaceAll(/[^a-z]/g, ''))) return [];
    if (isObject(value)) return above === '' ? saidIn(value, `${name}.`) : [];
    return isSuccess(name, value) ? [[`${above}${name}`, value]] : [];
  });
}

function isSuccess(name: string, value: Json): boolean {
  if (value === null || value === false || value === '') return /^err/i.test(name);
  return typeof value !== 'object' && values.test(String(value));
}
