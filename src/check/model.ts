import type { Cause, Json, Level, Report, RuleResult } from '../contract/model.ts';
import type { CallPlan } from '../contract/probe/safety.ts';

/** What a check demands beyond the contract's own verdict. */
export interface Demands {
  /** `must`: only a MUST that fails is a failure. `should`: a SHOULD is one too, and so is a listing that has drifted. */
  readonly level: Level;
  /** A rule that could not be run is a failure. */
  readonly requireAll: boolean;
}

/** A failure that its author knows of: of a rule, or of a rule for one tool. */
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
export interface Change {
  readonly tool: string;
  /** Where in the definition; absent where the tool itself came or went. */
  readonly path?: string;
  /** Whether a caller who knows the earlier list may fail; null where only a fingerprint of the tool is known. */
  readonly breaks: boolean | null;
  /** What has changed, in words. */
  readonly what: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** What has changed since a tool list was recorded. */
export interface Drift {
  /** The file that holds the earlier list, or its fingerprints. */
  readonly against: string;
  readonly changes: readonly Change[];
  /** Whether the marketplace must read the list again (C§3.2, C§9.3). */
  readonly refreshNeeded: boolean;
}

/** An error in the server's own code that no failed rule tells of. */
export interface Stray extends Cause {
  /** The tool that was called; absent where the error belongs to no call. */
  readonly tool?: string;
  /** How often it was logged. */
  readonly times: number;
}

/** The verdict of `market-mcp check`. `ok` counts what `Demands` demand. docs/check.md documents the JSON form. */
export interface CheckReport extends Omit<Report, 'rules' | 'summary'> {
  readonly rules: readonly CheckedRule[];
  readonly drift?: Drift;
  /** Errors that the server of a project logged and that no failed rule tells of; absent where there are none. */
  readonly strays?: readonly Stray[];
  /** Which tools of a URL were called, and which were not; absent where it came to no call, and for a project. */
  readonly calls?: CallPlan;
  readonly baseline?: {
    readonly file: string;
    /** Entries that fail no more: each is an error, since it would hide the next failure. */
    readonly stale: readonly KnownFailure[];
  };
  readonly demands: Demands;
  readonly summary: Report['summary'] & {
    /** Rules that failed and are in the baseline. */
    readonly known: number;
  };
}
