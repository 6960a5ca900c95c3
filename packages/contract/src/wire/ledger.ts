import { createHash } from 'node:crypto';
import { resultOutcome } from '../definition/outcomes.ts';
import { isObject, isWalkable, objectOr, parseJsonText, shorten } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { isDenied } from './access.ts';
import { curlLine } from './curl-line.ts';
import type { SentRequest } from './http.ts';
import { OwnSecrets } from './own-secrets.ts';
import { PendingRequests } from './pending-requests.ts';
import { answerChecks, type Property, type RecordedAnswer } from './properties.ts';
import { RateLimit } from './rate-limit.ts';
import { describe, type RpcAnswer, saysLimited } from './rpc.ts';
import { SilenceLimit } from './silence-limit.ts';

/** The maximum number of problems that are kept of a property: one cause breaks it in every answer. */
const maxStoredProblems = 3;

/** Requests with longer params are not compared, in characters. */
const maxComparedLength = 2_000;

/** The maximum number of remembered results. */
const maxRememberedResults = 1_000;

/** An answer that is the fault of one rule, whatever other rule it reached. */
interface ExplainedAnswer {
  readonly rule: string;
  readonly text: string;
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
  readonly silenceLimit = new SilenceLimit();
  readonly pendingRequests = new PendingRequests();
  readonly rateLimit = new RateLimit();
  readonly secrets = new OwnSecrets();
  readonly #brokenProperties = new Map<Property, { count: number; readonly problems: Problem[] }>();
  readonly #tallies = new Map<string, Tally>();
  /** What the server said to the same request, by its kind: the hash of each variant, with its count and the first answer. */
  readonly #variants = new Map<
    string,
    Map<string, { count: number; readonly first: Json; readonly request: SentRequest }>
  >();
  readonly #explainedAnswers: ExplainedAnswer[] = [];
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

  record(answer: RecordedAnswer): void {
    this.#answers += 1;
    this.#speaksJsonRpc ||= answer.body.slice(0, 1_000).includes('"jsonrpc"');
    for (const [property, findProblem] of answerChecks) {
      const found = findProblem(answer, this.secrets);
      if (!found) continue;
      const entry = this.#brokenProperties.get(property) ?? { count: 0, problems: [] };
      this.#brokenProperties.set(property, entry);
      entry.count += 1;
      if (entry.problems.length < maxStoredProblems)
        entry.problems.push({
          path: `answer to ${requestName(answer.request)}`,
          ...found,
          request: curlLine(answer.request),
        });
      if (property === 'utf8' || property === 'framing') this.explain(`answers.${property}`, answer);
    }
    this.#compare(answer);
  }

  /** Records that an answer is the fault of a rule: others that fail by it are not the cause. */
  explain(rule: string, answer: RpcAnswer['http']): void {
    if (this.#explainedAnswers.length >= 200) return;
    const [value] = answer.values;
    const error = objectOr(isObject(value) ? value.error : undefined);
    const { code, message } = error;
    const isError = typeof code === 'number' && typeof message === 'string';
    // An error also for requests with other ids, and as the SDK's client words it.
    const asError = isError ? [shorten(error, 100), `MCP error ${code}: ${message}`] : [];
    for (const shownText of [describe(answer), ...asError])
      this.#explainedAnswers.push({ rule, text: withoutQuoting(shownText) });
  }

  /** The rule whose fault is in what another rule got. */
  causeOf(actual: string): string | undefined {
    const text = withoutQuoting(actual);
    return this.#explainedAnswers.find(
      ({ text: shownText }) => text.includes(shownText) || text.includes(responseBodyText(shownText)),
    )?.rule;
  }

  /** The first problems with a property; the last of them says how many answers have it. */
  problemsOf(property: Property): readonly Problem[] {
    const { count, problems } = this.#brokenProperties.get(property) ?? { count: 0, problems: [] };
    if (count <= problems.length) return problems;
    return problems.map((problem, index) =>
      index < problems.length - 1
        ? problem
        : { ...problem, actual: `${problem.actual} (${count} of ${this.#answers} answers)` },
    );
  }

  /**
   * Counts an answer to an ordinary request. Limits of the rate, and refusals of who asks, are no failures; silence is not counted.
   *
   * @param isReset whether the server reset a connection that no earlier request had used.
   */
  countAnswer(method: string, params: Json | undefined, answer: RpcAnswer, isReset = false): void {
    const { status, headers } = answer.http;
    const isOverloaded = status === 503 && headers['retry-after'] !== undefined;
    if ((status === 0 && !isReset) || isOverloaded || [401, 403, 429].includes(status)) return;
    const text = shorten(params, maxComparedLength + 1);
    if (text.length > maxComparedLength) return; // texts that begin alike are not the same request
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
  recordCallOutcome(tool: Json, args: Json | undefined, { http, result }: RpcAnswer): void {
    const isCounted = args !== undefined && result && !isDenied(http) && !saysLimited(result);
    if (isCounted) this.#countOutcome(callKey(tool, args), result);
    if (!result || !isObject(result.structuredContent)) return;
    const key = `${resultOutcome(result)} ${shorten(tool, 200)}`;
    if (
      key.startsWith('found') ||
      this.#withoutData.has(key) ||
      this.#withoutData.size >= maxRememberedResults
    )
      return;
    this.#withoutData.set(key, result.structuredContent);
  }

  #countOutcome(call: string, { isError }: JsonObject): void {
    if (call.length > maxComparedLength) return;
    const outcomes = this.#outcomes.get(call) ?? { failed: 0, succeeded: 0 };
    if (this.#outcomes.size < maxRememberedResults) this.#outcomes.set(call, outcomes);
    outcomes[isError === true ? 'failed' : 'succeeded'] += 1;
  }

  /** How often a call of a tool was a failure, and how often it was not. */
  outcomesOf(tool: Json, args: JsonObject): Readonly<Outcomes> {
    return this.#outcomes.get(callKey(tool, args)) ?? { failed: 0, succeeded: 0 };
  }

  /** The data of a result of a tool that was empty, or a failure; undefined if none was observed. */
  dataOf(tool: Json, outcome: 'empty' | 'fail'): JsonObject | undefined {
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
          ...(first.http.request && { request: shellLoop(curlLine(first.http.request), answered) }),
        },
      ];
    });
  }

  /** Whether the server said something else to the same request. @param kind `tools/list`, `initialize` */
  changeProblems(kind: string, expected: string): readonly Problem[] {
    return [...this.#variants].flatMap(([key, variants]): Problem[] => {
      if (variants.size < 2 || !key.startsWith(kind)) return [];
      const [mostFrequent, secondMostFrequent] = [...variants.values()].toSorted(
        (left, right) => right.count - left.count,
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
          request: shellLoop(curlLine(secondMostFrequent.request), of),
        },
      ];
    });
  }

  /** The first page of the list of tools, as it came first. */
  firstPage(): readonly Json[] {
    const [first] = this.#variants.get('tools/list')?.values() ?? [];
    if (Array.isArray(first?.first)) return first.first;
    return [];
  }

  /** Remembers the content of a list or an identity, to compare it with the others. */
  #compare({ status, values, request }: RecordedAnswer): void {
    this.#host ??= request.url.host;
    if (status !== 200 || typeof request.body !== 'string' || request.body.length > 2_000) return;
    if (this.#host !== request.url.host) return;
    const kind = /"method":"(tools\/list|initialize)"/.exec(request.body)?.[1];
    if (kind === undefined) return;
    const [message] = parseJsonText(request.body);
    const [answer] = values;
    if (!isObject(message) || !isObject(answer) || !isObject(answer.result)) return;
    const params = objectOr(message.params);
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
    const variants = this.#variants.get(key) ?? new Map();
    this.#variants.set(key, variants);
    const entry = variants.get(hash) ?? { count: 0, first: contents, request };
    entry.count += 1;
    if (variants.has(hash) || variants.size < 5) variants.set(hash, entry);
  }
}

function callKey(tool: Json, args: Json): string {
  return `${shorten(tool, 200)} ${shorten(args, maxComparedLength + 1)}`;
}

function serverIdentity({
  protocolVersion = null,
  capabilities = null,
  serverInfo = null,
}: JsonObject): Json {
  return { protocolVersion, capabilities, serverInfo };
}

/** The first elements in which two values differ, as text. */
function difference(left: Json, right: Json): readonly [string, string] {
  if (Array.isArray(left) && Array.isArray(right)) {
    if (left.length !== right.length) return [`${left.length} tools`, `${right.length} tools`];
    const at = left.findIndex((item, index) => JSON.stringify(item) !== JSON.stringify(right[index]));
    return difference(left[at] ?? null, right[at] ?? null);
  }
  if (isObject(left) && isObject(right)) {
    const name = Object.keys(left).find((key) => JSON.stringify(left[key]) !== JSON.stringify(right[key]));
    const label = typeof left.name === 'string' ? `${left.name} · ` : '';
    if (name !== undefined)
      return [`${label}${name} ${shorten(left[name], 200)}`, `${label}${name} ${shorten(right[name], 200)}`];
  }
  return [shorten(left, 200), shorten(right, 200)];
}

/** The name of a request: the method of JSON-RPC, or the HTTP method with the path. */
export function requestName({ method, url, target, body }: SentRequest): string {
  const calledMethod = typeof body === 'string' ? /"method":"([\w/]+)"/.exec(body)?.[1] : undefined;
  return calledMethod ?? `${method} ${target ?? url.pathname}`;
}

/** The shell loop that sends a request as often as the check did. */
function shellLoop(line: string, times: number): string {
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
