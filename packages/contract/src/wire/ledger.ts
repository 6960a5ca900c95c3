import { createHash } from 'node:crypto';
import { resultOutcome } from '../definition/outcomes.ts';
import { isObject, isWalkable, objectOr, parseJsonText, shorten } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { isDenied } from './access.ts';
import { curlLine } from './curl-line.ts';
import { OwnSecrets } from './own-secrets.ts';
import { Patience } from './patience.ts';
import { Pending } from './pending.ts';
import { answerChecks, type Property, type Said } from './properties.ts';
import { RateLimit } from './rate-limit.ts';
import { describe, type RpcAnswer, saysLimited } from './rpc.ts';

/** The maximum number of problems that are kept of a property: one cause breaks it in every answer. */
const mostKept = 3;

/** Requests with longer params are not compared, in characters. */
const mostCompared = 2_000;

/** The maximum number of remembered results. */
const mostObserved = 1_000;

/** An answer that is the fault of one rule, whatever other rule it reached. */
interface Explained {
  readonly rule: string;
  readonly shown: string;
}

/** The answers to one request that was sent again and again. */
interface Tally {
  answered: number;
  readonly failed: { count: number; first?: RpcAnswer };
}

/** The results of a call that are failures of the tool, and all others. */
interface Outcomes {
  failed: number;
  succeeded: number;
}

/**
 * Checks every answer of a run when it arrives, and keeps what breaks a property, how often the same request succeeded, and which
 * lists and identities the server named. The answers themselves are not kept.
 */
export class Ledger {
  readonly patience = new Patience();
  readonly pending = new Pending();
  readonly rateLimit = new RateLimit();
  readonly secrets = new OwnSecrets();
  readonly #broken = new Map<Property, { count: number; readonly kept: Problem[] }>();
  readonly #tallies = new Map<string, Tally>();
  /** What the server said to the same request, by its kind: the hash of each variant, with its count and the first answer. */
  readonly #said = new Map<
    string,
    Map<string, { count: number; readonly first: Json; readonly asked: Said['asked'] }>
  >();
  readonly #explained: Explained[] = [];
  /** The data of failures and of empty results, by outcome and tool. */
  readonly #withoutData = new Map<string, JsonObject>();
  /** By tool and arguments. */
  readonly #outcomes = new Map<string, Outcomes>();
  /** Whether a server reset a connection, new or reused. */
  hasReset = false;
  /** When each session was opened that the run has not ended, by the clock of the run. */
  readonly openedSessions = new Map<string, number>();
  /** The ages in milliseconds at which the server lost sessions. */
  readonly lostSessions: number[] = [];
  /** Whether the server left a notification unanswered. */
  leavesNotifications = false;
  #answers = 0;
  /** The server of the run, and not another instance of it. */
  #host: string | undefined;
  #speaksJsonRpc = false;

  /** Whether any answer looks like a message of JSON-RPC, readable or not. */
  get speaksJsonRpc(): boolean {
    return this.#speaksJsonRpc;
  }

  record(answer: Said): void {
    this.#answers += 1;
    this.#speaksJsonRpc ||= answer.body.slice(0, 1_000).includes('"jsonrpc"');
    for (const [property, findProblem] of answerChecks) {
      const found = findProblem(answer, this.secrets);
      if (!found) continue;
      const entry = this.#broken.get(property) ?? { count: 0, kept: [] };
      this.#broken.set(property, entry);
      entry.count += 1;
      if (entry.kept.length < mostKept)
        entry.kept.push({
          path: `answer to ${requestName(answer.asked)}`,
          ...found,
          request: curlLine(answer.asked),
        });
      if (property === 'utf8' || property === 'framing') this.explain(`answers.${property}`, answer);
    }
    this.#compare(answer);
  }

  /** Records that an answer is the fault of a rule: others that fail by it are not the cause. */
  explain(rule: string, answer: RpcAnswer['http']): void {
    if (this.#explained.length >= 200) return;
    const [value] = answer.values;
    const error = objectOr(isObject(value) ? value.error : undefined);
    const { code, message } = error;
    const isError = typeof code === 'number' && typeof message === 'string';
    // An error also for requests with other ids, and as the SDK's client words it.
    const asError = isError ? [shorten(error, 100), `MCP error ${code}: ${message}`] : [];
    for (const shownText of [describe(answer), ...asError])
      this.#explained.push({ rule, shown: withoutQuoting(shownText) });
  }

  /** The rule whose fault is in what another rule got. */
  causeOf(actual: string): string | undefined {
    const text = withoutQuoting(actual);
    return this.#explained.find(
      ({ shown: shownText }) => text.includes(shownText) || text.includes(responseBodyText(shownText)),
    )?.rule;
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

  /**
   * Counts an answer to an ordinary request. Limits of the rate, and refusals of who asks, are no failures; silence is not counted.
   *
   * @param isReset whether the server reset a connection that no earlier request had used.
   */
  tally(method: string, params: Json | undefined, answer: RpcAnswer, isReset = false): void {
    const { status, headers } = answer.http;
    const isOverloaded = status === 503 && headers['retry-after'] !== undefined;
    if ((status === 0 && !isReset) || isOverloaded || [401, 403, 429].includes(status)) return;
    const text = shorten(params, mostCompared + 1);
    if (text.length > mostCompared) return; // texts that begin alike are not the same request
    const key = params === undefined ? method : `${method} ${text}`;
    const entry: Tally = this.#tallies.get(key) ?? { answered: 0, failed: { count: 0 } };
    this.#tallies.set(key, entry);
    entry.answered += 1;
    if (answer.http.status === 200 && answer.result !== undefined) return;
    entry.failed.count += 1;
    entry.failed.first ??= answer;
  }

  /**
   * Counts the outcome of a call, unless authentication or a limit denied it. Remembers the first result of each tool that is a failure, and the
   * first that is empty, if it has structured data.
   */
  observe(tool: Json, args: Json | undefined, { http, result }: RpcAnswer): void {
    const isCounted = args !== undefined && result && !isDenied(http) && !saysLimited(result);
    if (isCounted) this.#countOutcome(callKey(tool, args), result);
    if (!result || !isObject(result.structuredContent)) return;
    const key = `${resultOutcome(result)} ${shorten(tool, 200)}`;
    if (key.startsWith('found') || this.#withoutData.has(key) || this.#withoutData.size >= mostObserved)
      return;
    this.#withoutData.set(key, result.structuredContent);
  }

  #countOutcome(call: string, { isError }: JsonObject): void {
    if (call.length > mostCompared) return;
    const outcomes = this.#outcomes.get(call) ?? { failed: 0, succeeded: 0 };
    if (this.#outcomes.size < mostObserved) this.#outcomes.set(call, outcomes);
    outcomes[isError === true ? 'failed' : 'succeeded'] += 1;
  }

  /** How often a call of a tool was a failure, and how often it was not. */
  outcomesOf(tool: Json, args: JsonObject): Readonly<Outcomes> {
    return this.#outcomes.get(callKey(tool, args)) ?? { failed: 0, succeeded: 0 };
  }

  /** The data of a result of a tool that was empty, or a failure; undefined if none was observed. */
  observed(tool: Json, outcome: 'empty' | 'fail'): JsonObject | undefined {
    return this.#withoutData.get(`${outcome} ${shorten(tool, 200)}`);
  }

  /** Whether an ordinary request without params was ever answered by an error. */
  hasFailed(method: string): boolean {
    return (this.#tallies.get(method)?.failed.count ?? 0) > 0;
  }

  /** Requests that were sometimes answered by a result and sometimes by an error. Their errors are explained. */
  unsteadyProblems(rule: string): readonly Problem[] {
    return [...this.#tallies].flatMap(([key, { answered, failed }]): Problem[] => {
      const { count, first } = failed;
      if (!first || count === answered) return [];
      this.explain(rule, first.http);
      return [
        {
          path: key,
          expected: 'a result each time',
          actual: describe(first.http),
          times: { failed: count, of: answered },
          ...(first.http.asked && { request: repeated(curlLine(first.http.asked), answered) }),
        },
      ];
    });
  }

  /** Whether the server said something else to the same request. @param kind `tools/list`, `initialize` */
  changeOf(kind: string, expected: string): readonly Problem[] {
    return [...this.#said].flatMap(([key, variants]): Problem[] => {
      if (variants.size < 2 || !key.startsWith(kind)) return [];
      const [mostFrequent, secondMostFrequent] = [...variants.values()].toSorted(
        (left, two) => two.count - left.count,
      );
      if (!mostFrequent || !secondMostFrequent) return [];
      const of = [...variants.values()].reduce((sum, { count }) => sum + count, 0);
      const [before, after] = difference(mostFrequent.first, secondMostFrequent.first);
      return [
        {
          path: key,
          expected: `${expected}: ${before}`,
          actual: after,
          times: { failed: of - mostFrequent.count, of },
          request: repeated(curlLine(secondMostFrequent.asked), of),
        },
      ];
    });
  }

  /** The first page of the list of tools, as it came first. */
  firstPage(): readonly Json[] {
    const [first] = this.#said.get('tools/list')?.values() ?? [];
    if (Array.isArray(first?.first)) return first.first;
    return [];
  }

  /** Remembers the content of a list or an identity, to compare it with the others. */
  #compare({ status, values, asked }: Said): void {
    this.#host ??= asked.url.host;
    if (status !== 200 || typeof asked.body !== 'string' || asked.body.length > 2_000) return;
    if (this.#host !== asked.url.host) return;
    const kind = /"method":"(tools\/list|initialize)"/.exec(asked.body)?.[1];
    if (kind === undefined) return;
    const [request] = parseJsonText(asked.body);
    const [answer] = values;
    if (!isObject(request) || !isObject(answer) || !isObject(answer.result)) return;
    const params = isObject(request.params) ? request.params : {};
    const { result } = answer;
    if (kind === 'tools/list' && (params.cursor !== undefined || !Array.isArray(result.tools))) return;
    const era = params._meta === undefined ? '' : ' without a session';
    const key =
      kind === 'tools/list'
        ? `${kind}${era}`
        : `initialize with protocolVersion ${shorten(params.protocolVersion)}`;
    const contents: Json = kind === 'tools/list' ? (result.tools ?? null) : serverIdentity(result);
    if (!isWalkable(contents)) return;
    const hash = createHash('sha256').update(JSON.stringify(contents)).digest('base64');
    const variants = this.#said.get(key) ?? new Map();
    this.#said.set(key, variants);
    const entry = variants.get(hash) ?? { count: 0, first: contents, asked };
    entry.count += 1;
    if (variants.has(hash) || variants.size < 5) variants.set(hash, entry);
  }
}

function callKey(tool: Json, args: Json): string {
  return `${shorten(tool, 200)} ${shorten(args, mostCompared + 1)}`;
}

function serverIdentity({
  protocolVersion = null,
  capabilities = null,
  serverInfo = null,
}: JsonObject): Json {
  return { protocolVersion, capabilities, serverInfo };
}

/** The first elements in which two values differ, as text. */
function difference(left: Json, secondMostFrequent: Json): readonly [string, string] {
  if (Array.isArray(left) && Array.isArray(secondMostFrequent)) {
    if (left.length !== secondMostFrequent.length)
      return [`${left.length} tools`, `${secondMostFrequent.length} tools`];
    const at = left.findIndex(
      (item, index) => JSON.stringify(item) !== JSON.stringify(secondMostFrequent[index]),
    );
    return difference(left[at] ?? null, secondMostFrequent[at] ?? null);
  }
  if (isObject(left) && isObject(secondMostFrequent)) {
    const name = Object.keys(left).find(
      (key) => JSON.stringify(left[key]) !== JSON.stringify(secondMostFrequent[key]),
    );
    const label = typeof left.name === 'string' ? `${left.name} · ` : '';
    if (name !== undefined)
      return [
        `${label}${name} ${shorten(left[name], 200)}`,
        `${label}${name} ${shorten(secondMostFrequent[name], 200)}`,
      ];
  }
  return [shorten(left, 200), shorten(secondMostFrequent, 200)];
}

/** The name of a request: the method of JSON-RPC, or the HTTP method with the path. */
export function requestName({ method, url, target, body }: Said['asked']): string {
  const calledMethod = typeof body === 'string' ? /"method":"([\w/]+)"/.exec(body)?.[1] : undefined;
  return calledMethod ?? `${method} ${target ?? url.pathname}`;
}

/** The shell loop that sends a request as often as the check did. */
function repeated(line: string, times: number): string {
  return `for i in $(seq ${times}); do ${line}; done`;
}

/** A text as a message quotes it or not. */
function withoutQuoting(text: string): string {
  return text.replaceAll(/[\\"\s…]/g, '');
}

/** What follows the status; the whole text if that is too short to be recognized. */
function responseBodyText(shownText: string): string {
  const body = shownText.replace(/^HTTP\d{3}/, '');
  return body.length >= 12 ? body : shownText;
}
