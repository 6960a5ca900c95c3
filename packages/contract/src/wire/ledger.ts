import { isUtf8 } from 'node:buffer';
import { isObject, objectOr, shorten, visibleJson } from '../json/json.ts';
import type { Json } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { isEventStream } from './events.ts';
import type { HttpAnswer } from './http.ts';

/** What every answer of a server must be, whatever was asked. */
export type Property = 'utf8' | 'type' | 'numbers' | 'surrogates' | 'secrets';

/** What the ledger reads of an answer. */
type Said = Pick<HttpAnswer, 'status' | 'headers' | 'body' | 'values'> & { readonly bytes: Uint8Array };

/** The most problems that are kept of a property: one cause breaks it in every answer. */
const mostKept = 3;

/** Judges every answer of a run when it arrives, and keeps what breaks a property. The answers themselves are not kept. */
export class Ledger {
  readonly #broken = new Map<Property, { count: number; readonly kept: Problem[] }>();
  #answers = 0;

  /** @param request the method and the path, for the report */
  record(request: string, said: Said): void {
    this.#answers += 1;
    for (const [property, judge] of judges) {
      const found = judge(said);
      if (!found) continue;
      const entry = this.#broken.get(property) ?? { count: 0, kept: [] };
      this.#broken.set(property, entry);
      entry.count += 1;
      if (entry.kept.length < mostKept) entry.kept.push({ path: `answer to ${request}`, ...found });
    }
  }

  /** The first problems with a property; the last of them says how many answers have it. */
  problemsOf(property: Property): readonly Problem[] {
    const { count, kept } = this.#broken.get(property) ?? { count: 0, kept: [] };
    if (count <= kept.length) return kept;
    return kept.map((problem, index) =>
      index < kept.length - 1
        ? problem
        : { ...problem, actual: `${problem.actual} (${count} of ${this.#answers} answers)` },
    );
  }
}

type Judge = (said: Said) => Pick<Problem, 'expected' | 'actual'> | undefined;

const judges: readonly (readonly [Property, Judge])[] = [
  ['utf8', encodingProblem],
  ['type', typeProblem],
  ['numbers', numberProblem],
  ['surrogates', surrogateProblem],
  ['secrets', secretProblem],
];

/** JSON between systems is UTF-8 without a byte order mark (RFC 8259 §8.1). */
function encodingProblem({ bytes, headers, body }: Said): ReturnType<Judge> {
  if (!isJsonType(headers['content-type'])) return undefined;
  const expected = 'UTF-8 without a byte order mark';
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return { expected, actual: 'a byte order mark at byte 0' };
  if (isUtf8(bytes)) return undefined;
  // What is no character was replaced when it was read.
  const read = Buffer.from(body);
  return { expected, actual: `not UTF-8 at byte ${bytes.findIndex((byte, at) => byte !== read[at])}` };
}

/** A JSON-RPC message comes as JSON or as an event (MCP, Streamable HTTP). */
function typeProblem({ status, headers, body }: Said): ReturnType<Judge> {
  const type = headers['content-type'];
  if (status !== 200 || isJsonType(type) || !/^\s*\{\s*"jsonrpc"\s*:/.test(body)) return undefined;
  return { expected: 'Content-Type: application/json or text/event-stream', actual: shorten(type) };
}

/** A number beyond the doubles becomes infinite or null in most readers (RFC 8259 §6). */
function numberProblem({ body, values }: Said): ReturnType<Judge> {
  if (!/[eE]\+?\d{3}|\d{309}/.test(body)) return undefined;
  const beyond = leafIn(values, (leaf) => typeof leaf === 'number' && !Number.isFinite(leaf));
  return beyond === undefined
    ? undefined
    : { expected: 'numbers that a double holds', actual: `a number that is read as ${beyond}` };
}

/** Half of a surrogate pair is no character: what a reader makes of it is unpredictable (RFC 8259 §8.2). */
function surrogateProblem({ body, values }: Said): ReturnType<Judge> {
  if (!/\\u[dD][89a-fA-F]/.test(body)) return undefined;
  const cut = leafIn(values, (leaf) => typeof leaf === 'string' && /\p{Cs}/u.test(leaf));
  return cut === undefined ? undefined : { expected: 'whole characters', actual: visibleJson(shorten(cut)) };
}

/** A value inside of others that is neither an object nor a list. */
function leafIn(values: readonly Json[], isWanted: (leaf: Json) => boolean): Json | undefined {
  const open = [...values];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) open.push(item);
    else if (isWanted(value)) return value;
  }
  return undefined;
}

/** Forms of keys that no caller should see; in addresses only where a call failed, since data may contain signed links. */
const secrets =
  /-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_\w{36}\b|\bAIza[\w-]{35}\b|\bxox[bp]-[\w-]{20,}|\bsk[-_](?:live|proj|ant)[-_][\w-]{20,}/;
const secretsInAddress = /[?&](?:api_?key|apikey|appid|access_token|secret|password)=[^&\s"\\]{8,}/i;

function secretProblem({ status, body, values }: Said): ReturnType<Judge> {
  const isFailure = status >= 400 || values.some(tellsFailure);
  const found = secrets.exec(body) ?? (isFailure ? secretsInAddress.exec(body) : null);
  if (!found) return undefined;
  return { expected: 'no keys', actual: `${found[0].slice(0, 12)}… at character ${found.index}` };
}

function tellsFailure(message: Json): boolean {
  return isObject(message) && (isObject(message.error) || objectOr(message.result).isError === true);
}

function isJsonType(type: string | undefined): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(type ?? '') || isEventStream(type);
}
