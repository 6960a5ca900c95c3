import { isObject } from '../contract/json.ts';
import type { Json, JsonObject } from '../contract/model.ts';

/** Members of failures, in lower case without separators. */
const envelope = new Set(
  (
    'error errors errormessage errorcode errordescription errortype message messages msg code cod status statuscode success ' +
    'ok response detail details title type instance path timestamp time info reason hint description documentationurl ' +
    'requestid traceid correlationid jsonrpc id'
  ).split(' '),
);

/** Whether an answer of an API says that the request failed, although its HTTP status may be 200, and nothing else. */
export function isFailure(answer: JsonObject): boolean {
  const members = new Map(
    Object.entries(answer).map(([name, member]) => [name.toLowerCase().replaceAll(/[^a-z]/g, ''), member]),
  );
  if (/^not_?ok$/i.test(String(members.get('message')))) return true;
  const isOnlyEnvelope = [...members].every(([name, member]) => envelope.has(name) || isBlank(member));
  if (!isOnlyEnvelope) return false;
  const of = (...names: readonly string[]) => names.map((name) => members.get(name));
  return (
    of('error', 'errors', 'errormessage').some((error) => !isBlank(error)) ||
    of('success', 'ok', 'response').some((success) => /^false$/i.test(String(success))) ||
    of('status', 'statuscode', 'code', 'cod').some((status) =>
      /^([45]\d\d|error|fail(ed|ure)?)$/i.test(String(status)),
    )
  );
}

function isBlank(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
