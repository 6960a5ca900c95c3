import type { NotRunCause } from '../model.ts';

/** What the caller of a check did not give. */
export const missing = {
  signer: 'no private key to sign platform tokens with',
  forgery: 'this rule needs a token with another header or other claims',
  launch: 'no way to start another instance of this target',
} as const;

/** The reason for rules that need a tool where none may be called. */
export const consent = 'no tool may be called, because each call might do harm';

/** The reason in a project for rules that need a tool where none may be called. */
export const noHarmlessCall = 'no tool only reads, and no other has an example with a recording';

/** The reason for rules whose requests the server's rate limit refused. */
export const rateLimited = 'the server limits the rate of requests (HTTP 429)';

/** The reason for rules whose measurements the server's rate limit distorts. */
export const distortedByRateLimit =
  'the server limits the rate of requests (HTTP 429), which distorts what the rule measures';

/** The reason for rules that were not run before the deadline of the run. */
export const afterDeadline = 'the deadline of the check had passed (raise --deadline)';

/** The reason for a rule that was not run because the server was gone. @param outageRule the rule that detected it, if any */
export function serverGone(rule: string, outageRule = ''): string {
  if (outageRule === rule) return 'the server stopped answering while this rule ran';
  if (outageRule === '') return 'the server has stopped answering';
  return `the server has not answered since ${outageRule}`;
}

/** The reason for rules that need to know whether a call requires a token. */
export const limitHidesPayment =
  'a limit of the rate (HTTP 429) hides whether a call without a token is refused';

/** Generated calls, where each tool that returned data may change something. */
export const onlyWriting = 'no tool that only reads returned data';

/** Generated calls that nobody asked for. */
export const unexplored =
  'no calls are generated for a server elsewhere, because its tools may ask live APIs';

/**
 * What a server's own answer prevents: the reason, and the rules that check this answer. At least one of them fails, so that
 * no rule is left out without a finding.
 */
export const preventions = {
  initialize: ['initialize returned no result', ['discovery.initialize']],
  initializeAgain: ['a second, ordinary initialize fails as well', ['session.unique']],
  session: ['initialize opened no session', ['session.open']],
  sessionAgain: ['a further initialize opened no session', ['session.unique']],
  disturbed: ['two sessions at once disturb each other', ['session.two-at-once']],
  ping: ['neither prompts/list, resources/list nor ping is answered', ['protocol.ping']],
  identity: ['health or initialize names no server', ['health.fields', 'identity.name']],
  health: ['GET /health returns no status', ['health.status', 'health.fields']],
  slowHealth: ['GET /health is not answered in time', ['health.in-time']],
  list: ['the list of tools cannot be read to its end', ['discovery.tools-list', 'modern.tools']],
  noTools: ['the server declares no tools, and has none', ['identity.tools']],
  large: ['the server lists more or larger tools than are checked', ['tool.readable']],
  clientList: ['the client cannot list the tools', ['discovery.client']],
  noTool: ['there is no tool to call', ['discovery.tools', 'tool.readable', 'tool.name']],
  ungated: ['an ordinary call without a token runs as well', ['gate.no-token']],
  unrefused: ['an ordinary call without a token is not refused', ['gate.no-token']],
  refused: ['a call with a valid token was refused', ['gate.valid-token', 'call.answered']],
  noPaidResponse: ['a call with a valid token got no response', ['gate.valid-token', 'gate.no-token']],
  noResponse: ['no call got a JSON-RPC response', ['call.answered']],
  noResult: ['no call got a result', ['call.answered', 'input.sample']],
  noSuccess: ['no call succeeded', ['call.answered', 'submission.succeeds', 'outcome.found']],
  unreadableResult: [
    'no call returned a result that can be judged',
    [
      'result.content',
      'result.json-text',
      'result.structured',
      'output.object-root',
      'output.compiles',
      'outcome.failure-payload',
    ],
  ],
  noRehearsal: ['no call of the test got a result', ['submission.calls']],
  noOutputSchema: ['a tool has no outputSchema that compiles', ['output.object-root', 'output.compiles']],
  modernCall: ['a call without a session gives no result', ['modern.call']],
  modernList: ['tools/list gives no result without a session', ['modern.tools']],
  modernUngated: ['a call without a token is not refused', ['modern.no-token']],
  instance: ['no second instance could be started', ['process.port']],
  production: ['the server does not start in production', ['process.production']],
} as const satisfies Readonly<Record<string, readonly [string, readonly string[]]>>;

export type Prevention = keyof typeof preventions;

/** Thrown by a live rule that cannot be checked; the message is the reason. */
export class NotRun extends Error {
  override readonly name: string = 'NotRun';
  readonly notRunCause: NotRunCause;
  /** The rules of which at least one fails, where the server's own answer is the reason. */
  readonly see: readonly string[];

  private constructor(reason: string, notRunCause: NotRunCause, see: readonly string[] = []) {
    super(see.length === 0 ? reason : `${reason} (see ${see.join(', ')})`);
    this.notRunCause = notRunCause;
    this.see = see;
  }

  /** The server's own answer is the reason. */
  static preventedBy(prevention: Prevention): NotRun {
    return new NotRun(preventions[prevention][0], 'missing', preventions[prevention][1]);
  }

  /** The answer that a rule got already fails another rule. */
  static explained(rule: string): NotRun {
    return new NotRun('its answer already fails another rule', 'missing', [rule]);
  }

  /** The caller did not give what the rule needs. */
  static without(missingPart: keyof typeof missing): NotRun {
    return new NotRun(missing[missingPart], 'missing');
  }

  /** Another cause, in words. */
  static because(notRunCause: Exclude<NotRunCause, 'missing'>, reason: string): NotRun {
    return new NotRun(reason, notRunCause);
  }
}
