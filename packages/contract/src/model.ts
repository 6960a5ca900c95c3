/** Types that every part of the contract uses. */
import type { Json, JsonObject, Mismatch } from './json/value.ts';

/** An element of a `tools/list` result (C§2.1). */
export interface ToolDefinition {
  readonly name: string;
  /** Name for people (MCP). */
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** Hints about what a call does, such as `readOnlyHint` (MCP). */
  readonly annotations?: JsonObject;
  readonly icons?: readonly JsonObject[];
  readonly _meta?: JsonObject;
}

/** A call with the outcome that the author expects; the self-check makes every such call. */
export interface ToolExample {
  readonly arguments: JsonObject;
  /** `found`: data. `empty`: an explicit empty-result signal (C§2.2). `fail`: `isError` with `error` and `message`. */
  readonly expect: 'found' | 'empty' | 'fail';
}

/** The HTTP methods (`get`) of the API requests of each tool, by tool name, as far as known. */
export type Methods = ReadonlyMap<string, readonly string[]>;

/** MUST: without it, the listing is rejected or the tool breaks. SHOULD: without it, the tool works worse. */
export type Level = 'must' | 'should';

/** `legacy`: the versions of MCP with sessions. `modern`: 2026-07-28, which has none. */
export type Era = 'both' | 'legacy' | 'modern';

/** One violation of a rule. */
export interface Problem extends Mismatch {
  /** The case of a merged rule: the id that the case had as a rule. */
  readonly case?: string;
  /** The tool concerned, if the problem belongs to one tool. */
  readonly tool?: string;
  /** The arguments of the call, if the problem belongs to one. */
  readonly arguments?: Json;
  /** What to change, if it is known more exactly than the rule's `fix`. */
  readonly fix?: string;
  /** How often the same request failed, where it does not always fail. */
  readonly times?: { readonly failed: number; readonly of: number };
  /** The command that sends the request again; `$TOKEN` and `$SESSION` are to be set. */
  readonly request?: string;
  /** Set if the answer was a failure of the tool. */
  readonly failed?: true;
  /** The code of that failure (C§2.2). */
  readonly code?: string;
  /** The id under which the server logged the cause. */
  readonly incident?: string;
  /** The error in the server's code, if we own the server and it logged the error. */
  readonly cause?: Cause;
  /** The place in the project to change: `src/tools/get-price.ts`, with `:12` if the line is known. */
  readonly at?: string;
  /** Further commands that send it again, or the calls that it is compared with. */
  readonly repeat?: readonly string[];
}

/** An error in the code of a server. */
export interface Cause {
  /** `TypeError: cannot read …`, with the messages of its causes. */
  readonly message: string;
  /** File and line of the project, `src/tools/get-price.ts:12`; absent where no frame is in the project. */
  readonly at?: string;
  /** The first frames, in source files. */
  readonly stack: readonly string[];
}

/** The description of a rule; `StaticRule` and `LiveRule` add the check. */
export interface RuleText {
  /** Stable, `group.kebab-name`. */
  readonly id: string;
  readonly level: Level;
  /** One line that states the rule as a fact about a correct server. */
  readonly title: string;
  /** `C§5.4` for a sentence of the contract; otherwise the public source of the platform fact. */
  readonly source: string;
  /** Set if the rule comes from platform facts, not from the contract: the profile decides its level. */
  readonly fact?: true;
  /** What an author does about a failure. */
  readonly fix: string;
  /** Set if the rule takes long: it runs only where its id is asked for. */
  readonly onlyNamed?: true;
  /** The rules that this one merges, because they fail together. Their ids stay valid names. */
  readonly cases?: readonly RuleText[];
  /** The rule of which this one is a case. */
  readonly within?: string;
}

/**
 * Why a rule was not run. `inapplicable`: the rule is about something that the server does not have. `example`: no example
 * of the author is of the kind that the rule is about. `missing`: something that the rule needs is missing, such as a key or
 * a session. `unanswered`: the server did not answer. `withheld`: a request that might do harm was not sent. `deadline`:
 * the time for the run was over. `error`: the check itself failed.
 */
export type NotRunCause =
  | 'inapplicable'
  | 'example'
  | 'missing'
  | 'unanswered'
  | 'withheld'
  | 'deadline'
  | 'error';

/** The verdict on one rule. */
export interface RuleResult {
  readonly id: string;
  readonly level: Level;
  readonly title: string;
  readonly source: string;
  readonly fix: string;
  readonly status: 'pass' | 'fail' | 'not-run';
  /** Why it was not run, in words. */
  readonly reason?: string;
  /** Why it was not run, for programs; present where `status` is `not-run`. */
  readonly cause?: NotRunCause;
  /** The rules of which at least one fails, where the server's own answer is why it was not run. */
  readonly see?: readonly string[];
  /** The failed rule that is the cause why this one was not run. */
  readonly because?: string;
  /** The failure of the first check, if the rule was checked again because load or other sessions may have caused it. */
  readonly again?: string;
  /** How often the same request failed, where it does not always fail: the worst of its problems. */
  readonly times?: NonNullable<Problem['times']>;
  /** The cases of a merged rule that were run. */
  readonly cases?: readonly string[];
  /** Details of the verdict, such as tools that were not called. */
  readonly note?: string;
  /** Empty unless the status is `fail`. */
  readonly problems: readonly Problem[];
  /** Duration in milliseconds. */
  readonly ms: number;
}

/** The result of the marketplace's submission test for one tool. */
export interface RehearsalStep {
  readonly tool: string;
  /** The sample arguments of the call. */
  readonly arguments: JsonObject;
  readonly ms: number;
  readonly status: 'pass' | 'fail';
  readonly problems: readonly Problem[];
}

/** Which tools a run calls, and which it does not call. */
export interface CallPlan {
  readonly called: readonly PlannedTool[];
  /** With the number of calls that each would get. */
  readonly withheld: readonly PlannedTool[];
}

export interface PlannedTool {
  readonly tool: string;
  /** The maximum number of calls by all rules together. */
  readonly atMost: number;
  /** The reason why it is called or not. */
  readonly because: string;
}

/** The verdict on a target. `ok` is false if a MUST failed or could not be checked for lack of an answer. */
export interface Report {
  readonly ok: boolean;
  readonly target: string;
  readonly platform: string;
  /** The version of the program that checked. */
  readonly version: string;
  /** When, as ISO 8601 in UTC. */
  readonly time: string;
  /** SHA-256 of the id and the status of each rule, sorted: two reports with the same hash have the same verdicts. */
  readonly hash: string;
  /** Version of the runtime, if the server belongs to a generated project. */
  readonly runtime?: string;
  /** The eras of MCP that were checked. */
  readonly era: Era;
  /** Chooses the generated calls: the same seed, the same calls. */
  readonly seed: number;
  readonly rules: readonly RuleResult[];
  /** The submission test, tool by tool, in its order; absent if it could not be run. */
  readonly rehearsal?: readonly RehearsalStep[];
  readonly summary: {
    readonly passed: number;
    /** MUST rules that failed. */
    readonly failed: number;
    /** SHOULD rules that failed. */
    readonly advice: number;
    readonly notRun: number;
    /**
     * MUST rules that were not run because the server did not answer, or not before the deadline, or because of an answer
     * that no failed rule explains.
     */
    readonly unanswered: number;
    /** Rules that were not run because a request might have done harm. */
    readonly withheld: number;
    /** Rules that were not run because of an error of the check itself. */
    readonly errors: number;
    readonly ms: number;
  };
}
