/** A change of the runtime that one of its unit tests must find. */
export interface Change {
  /** In `packages/runtime/src/`. */
  readonly file: string;
  /** Text that the file has once. */
  readonly before: string;
  readonly after: string;
  /** The tests that should find it, in `test/runtime/`. */
  readonly tests: readonly string[];
}

/** @throws Error if the change does not apply to the text. */
export function changedText({ file, before, after }: Change, text: string): string {
  const [start, end, ...more] = text.split(before);
  if (end === undefined || more.length > 0) throw new Error(`${file} must have this text once: ${before}`);
  return `${start}${after}${end}`;
}

const of =
  (file: string, ...tests: readonly string[]) =>
  (before: string, after: string): Change => ({ file, before, after, tests });

const gate = of('server/auth.ts', 'gate', 'keys', 'replicas');
const token = of('server/verify-token.ts', 'gate', 'keys', 'replicas');
const usedTokens = of('server/used-tokens.ts', 'gate', 'keys', 'replicas');
const keys = of('server/platform-keys.ts', 'keys', 'gate');
const session = of('server/session.ts', 'session');
const bodies = of('server/incoming-bodies.ts', 'body', 'limits', 'gate');
const callLimit = of('server/call-limit.ts', 'limits', 'call');
const fairLimit = of('server/fair-limit.ts', 'fair-limit', 'limits');
const call = of('server/run-call.ts', 'call', 'without-value');
const result = of('server/call-result.ts', 'call', 'without-value');
const send = of('source/send-with-retries.ts', 'source', 'source-requests', 'source-calls', 'status');
const response = of('source/fetch-response.ts', 'source', 'source-requests', 'source-calls', 'status');
const budget = of('source/budget.ts', 'budget');
const replicas = of('replicas.ts', 'replicas');

/** Some changes in each part that guards payment, memory, answers and sources. */
export const changes: readonly Change[] = [
  token('if (exp - iat > maxSeconds)', 'if (false)'),
  token('if (iat > nowSeconds + maxAheadSeconds)', 'if (iat > nowSeconds + 10 * maxAheadSeconds)'),
  token('if ([aud].flat().length !== 1)', 'if ([aud].flat().length < 1)'),
  token("requiredClaims: ['exp']", 'requiredClaims: []'),
  usedTokens('if (usedUntil.has(jti))', 'if (false)'),
  gate('until = Math.min(expiryMs, Date.now() + verifiedCacheMs)', 'until = Infinity'),
  gate('if (Date.now() >= expiryMs) reason', 'if (false) reason'),
  token('clockTolerance, requiredClaims', 'clockTolerance: clockTolerance + 30, requiredClaims'),
  usedTokens("if (use.isFirst) return 'admitted';", "return 'admitted';"),
  usedTokens('if (loss) {', 'if (loss && false) {'),
  keys('host.endsWith(`.${siteHost}`)', 'host.endsWith(siteHost)'),
  token('if (!/^(application\\/)?jwt$/i.test(typ))', 'if (false)'),
  session('.update(`${unsignedId}\\n${audience}`)', '.update(unsignedId)'),
  session('Date.now() < issueTime + ttlSeconds * 1000', 'true'),
  session('if (closedSessions.has(idBits(id))) return undefined;', ''),
  session('issueTimes.delete(id);', ''),
  session(
    '(previousSecret === null || !isSigned(unsignedId, signature, previousSecret))',
    '(previousSecret === null)',
  ),
  bodies(
    'if (this.#receivedBytes > this.#maxBytes) this.#refuseAsTooLarge();',
    'if (false) this.#refuseAsTooLarge();',
  ),
  bodies('if (this.#declaredBytes > this.#maxBytes) this.#refuseAsTooLarge();', ''),
  bodies('chunks * minBytesPerChunk > bytes + freeBytes', 'false'),
  bodies('this.#maxBytes = Math.min(limits.maxBodyBytes, limits.unpaidBodyBytes);', ''),
  bodies('this.#deadline = setTimeout(onDeadline, limits.unpaidBodyMs).unref();', ''),
  bodies("this.#kind === 'paid' ? this.#bodyRequest.estimateMemory(bytes) : 0", '0'),
  callLimit(
    'if (runningCount >= maxCalls || tokenCount >= maxCallsPerToken)',
    'if (tokenCount >= maxCallsPerToken)',
  ),
  callLimit('tokenCount >= maxCallsPerToken) {', 'false) {'),
  callLimit('runningCount--;', ''),
  fairLimit("while (groups.length + ending.length < 8) groups.push('0');", ''),
  fairLimit('.slice(0, 4);', '.slice(0, 8);'),
  fairLimit('size > itemToEnd.size ||', ''),
  call('if (timeoutMs !== undefined) timer = setTimeout(end, timeoutMs, expiredFailure);', ''),
  result(
    "const nullifiedProblem = text.includes('null') && findNullifiedProblem(data, structuredContent);",
    'const nullifiedProblem = false;',
  ),
  call('if (holdsInfinity(args))', 'if (false)'),
  result('if (problem) return { mismatch: formatProblem(problem) };', ''),
  call('unsubscribeDisconnect = onDisconnect(() => end(cancelledFailure));', ''),
  response('target?.origin === new URL(request.url).origin', 'true'),
  response('hops < maxRedirects', 'true'),
  response('if (size > maxBytes) {', 'if (false) {'),
  response("if (Number(response.headers.get('content-length')) > maxBytes) throw await tooLarge();", ''),
  send('methods: isIdempotent ? [method] : [],', 'methods: [method],'),
  budget(
    'return this.#perMinute - this.#running - this.#ends.length;',
    'return this.#perMinute - this.#ends.length;',
  ),
  budget('if (waitMs > this.#queueMs) throw rateLimitedError(waitMs / 1000);\n    const', 'const'),
  replicas(
    'if (!(await store.ask(append, false))) unsent.unshift(...entries);',
    'await store.ask(append, false);',
  ),
  replicas('if (text.length <= maxIdLength)', 'if (true)'),
  replicas('const keyOf = (key: string) => prefix +', 'const keyOf = (key: string) => '),
  replicas('claim(keyOf(key), ms, owner)', 'claim(keyOf(key), 1, owner)'),
];
