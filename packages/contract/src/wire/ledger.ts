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

/** An answer that fails one rule, and the text by which problems of other rules quote it. */
interface ExplainedAnswer {
  readonly rule: string;
  readonly text: string;
}

/** The answers to one request that was sent several times. */
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
 * Checks every answer of a run when it arrives. Stores the first problems of each property, how often each request succeeded, and the
 * variants of the tool list and the identity. The answers are not stored.
 */
export class Ledger {
  readonly silenceLimit = new SilenceLimit();
  readonly pendingRequests = new PendingRequests();
  readonly rateLimit = new RateLimit();
  readonly secrets = new OwnSecrets();
  readonly #brokenProperties = new Map<Property, { count: number; readonly problems: Problem[] }>();
  readonly #tallies = new Map<string, Tally>();
  /** The variants of the tool list and of the identity: by request, then by hash. */
  readonly #variants = new Map<
    string,
    Map<string, { count: number; readonly first: Json; readonly request: SentRequest }>
  >();
  readonly #explainedAnswers: ExplainedAnswer[] = [];
  /** The data of results whose outcome is not `found`: failures and empty results, by outcome and tool. */
  readonly #dataOfOtherOutcomes = new Map<string, JsonObject>();
  /** How often each call failed, by tool and arguments. */
  readonly #outcomes = new Map<string, Outcomes>();
  /** Whether a server reset a connection, new or reused. */
  hasReset = false;
  /** When each session was opened that the run has not ended, by the clock of the run. */
  readonly openedSessions = new Map<string, number>();
  /** The ages in milliseconds at which the server lost sessions. */
  readonly lostSessions: number[] = [];
  /** Whether the server left a notification unanswered. */
  ignoresNotifications = false;
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
      if (property === 'utf8' || property === 'framing') this.recordFailing(`answers.${property}`, answer);
    }
    this.#compare(answer);
  }

  /** Records that an answer fails a rule. Other rules that get this answer are then not run because of it. */
  recordFailing(rule: string, answer: RpcAnswer['http']): void {
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

  /** The rule that an answer fails, if the problem of another rule contains that answer. */
  ruleExplaining(quotedAnswer: string): string | undefined {
    const text = withoutQuoting(quotedAnswer);
    return this.#explainedAnswers.find(
      ({ text: shownText }) => text.includes(shownText) || text.includes(responseBodyText(shownText)),
    )?.rule;
  }

  /** The first problems with a property. The last of them names the number of answers that have it. */
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
      this.#dataOfOtherOutcomes.has(key) ||
      this.#dataOfOtherOutcomes.size >= maxRememberedResults
    )
      return;
    this.#dataOfOtherOutcomes.set(key, result.structuredContent);
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
    return this.#dataOfOtherOutcomes.get(`${outcome} ${shorten(tool, 200)}`);
  }

  /** Whether an ordinary request without params was ever answered by an error. */
  hasFailed(method: string): boolean {
    return (this.#tallies.get(method)?.failed.count ?? 0) > 0;
  }

  /** Requests that were sometimes answered by a result and sometimes by an error. Their errors are recorded as failing the rule. */
  unsteadyProblems(rule: string): readonly Problem[] {
    return [...this.#tallies].flatMap(([key, { answered, failed }]): Problem[] => {
      const { count, first } = failed;
      if (!first || count === answered) return [];
      this.recordFailing(rule, first.http);
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

  /** The problems of requests that got different answers. @param kind `tools/list`, `initialize` */
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

  /** The first variant of the first page of the tool list. */
  firstPage(): readonly Json[] {
    const [first] = this.#variants.get('tools/list')?.values() ?? [];
    if (Array.isArray(first?.first)) return first.first;
    return [];
  }

  /** Counts the variants of a tool list or an identity. Answers of further instances of the server are not compared. */
  #compare(answer: RecordedAnswer): void {
    const { request } = answer;
    this.#host ??= request.url.host;
    if (answer.status !== 200 || this.#host !== request.url.host) return;
    const comparison = comparedContents(answer);
    if (!comparison || !isWalkable(comparison.contents)) return;
    const { key, contents } = comparison;
    const hash = createHash('sha256').update(JSON.stringify(contents)).digest('base64');
    const variants = this.#variants.get(key) ?? new Map();
    this.#variants.set(key, variants);
    const entry = variants.get(hash) ?? { count: 0, first: contents, request };
    entry.count += 1;
    if (variants.has(hash) || variants.size < maxVariants) variants.set(hash, entry);
  }
}

/** The maximum number of variants of one answer. */
const maxVariants = 5;

/** The contents of a tool list or of an identity, and the kind of its request; undefined for any other answer. */
function comparedContents({
  values,
  request,
}: RecordedAnswer): { readonly key: string; readonly contents: Json } | undefined {
  if (typeof request.body !== 'string' || request.body.length > maxComparedLength) return undefined;
  const method = /"method":"(tools\/list|initialize)"/.exec(request.body)?.[1];
  if (method === undefined) return undefined;
  const [message] = parseJsonText(request.body);
  const [answer] = values;
  if (!isObject(message) || !isObject(answer) || !isObject(answer.result)) return undefined;
  const params = objectOr(message.params);
  const { result } = answer;
  if (method === 'initialize') {
    const key = `initialize with protocolVersion ${shorten(params.protocolVersion)}`;
    return { key, contents: serverIdentity(result) };
  }
  if (params.cursor !== undefined || !Array.isArray(result.tools)) return undefined;
  return { key: params._meta === undefined ? method : `${method} without a session`, contents: result.tools };
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

/** Removes the characters that quoting adds to a text. */
function withoutQuoting(text: string): string {
  return text.replaceAll(/[\\"\s…]/g, '');
}

/** The text after the status, or the whole text if the rest is too short to be recognized. */
function responseBodyText(shownText: string): string {
  const body = shownText.replace(/^HTTP\d{3}/, '');
  return body.length >= 12 ? body : shownText;
}
