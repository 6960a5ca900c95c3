import type { Json } from '../json/value.ts';
import type { CallPlan, Cause, Level, Report, RuleResult } from '../model.ts';
import type { ChangeId, Party } from './change-rules.ts';

/** The user's demands, in addition to the contract. */
export interface Demands {
  /** `must`: only a failed MUST is a failure. `should`: a failed SHOULD and drift are also failures. */
  readonly level: Level;
  /** A rule that could not be run is a failure. */
  readonly requireAll: boolean;
}

/** A known failure of a rule, or of a rule for one tool. */
export interface KnownFailure {
  readonly rule: string;
  readonly tool?: string;
}

/** How a rule's verdict counts. */
export interface CheckedRule extends RuleResult {
  /** All its problems are in the baseline. */
  readonly known?: true;
}

/** A difference between a tool list and an earlier one. */
export interface ListingChange {
  readonly tool: string;
  /** Path in the definition; absent if the tool itself is new or removed. */
  readonly path?: string;
  /** Whether anybody in `breaksFor` may fail; null if only a fingerprint of the tool is known. */
  readonly breaks: boolean | null;
  /** What has changed, in words. */
  readonly what: string;
  readonly before?: Json;
  readonly after?: Json;
  /** The rule that says who breaks: an id of `changeRules`. */
  readonly rule: ChangeId;
  /** Who may fail; null as in `breaks`. */
  readonly breaksFor: readonly Party[] | null;
}

/** What has changed since a tool list was recorded. */
export interface Drift {
  /** The file with the earlier list. */
  readonly against: string;
  readonly changes: readonly ListingChange[];
  /** Whether the marketplace must read the list again (C§3.2, C§9.3). */
  readonly refreshNeeded: boolean;
}

/** An error in the server's code that belongs to no failed rule. */
export interface OtherError extends Cause {
  /** The tool that was called; absent if the error belongs to no call. */
  readonly tool?: string;
  /** How often it was logged. */
  readonly times: number;
}

/** The verdict of `market-mcp check`. `ok` depends on `Demands`. docs/check-reference.md documents the JSON form. */
export interface CheckReport extends Omit<Report, 'rules' | 'summary'> {
  /** Whether every rule was run that is about something that the server, or its examples, have. */
  readonly complete: boolean;
  readonly rules: readonly CheckedRule[];
  readonly drift?: Drift;
  /** Errors that the server of a project logged and that belong to no failed rule; absent if there are none. */
  readonly serverErrors?: readonly OtherError[];
  /** Which tools of a URL were called and which were not; absent if none was called, and for a project. */
  readonly calls?: CallPlan;
  readonly baseline?: {
    readonly file: string;
    /** Entries that no longer fail: each is an error, because it would hide the next failure. */
    readonly stale: readonly KnownFailure[];
  };
  readonly demands: Demands;
  readonly summary: Report['summary'] & {
    /** Rules that failed and are in the baseline. */
    readonly known: number;
  };
}
