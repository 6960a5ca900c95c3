import type { KeyObject } from 'node:crypto';
import type { Cause, Problem, RehearsalStep, RuleResult, ToolExample } from 'market-mcp-contract/definition';
import { isObject, type Json } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import type { CheckReport } from 'market-mcp-contract/report';
import type { ServerState } from '../../dev/state.ts';

/** The registration form (C§2.5): every value is the text that was typed. */
export interface ListingForm {
  readonly name: string;
  readonly description: string;
  readonly category: string;
  /** US dollars, `0.01`. */
  readonly price: string;
  /** URL of the MCP endpoint, and the `aud` of every token. */
  readonly endpoint: string;
}

/** A listing as the marketplace stores it (C§3.2). */
export interface Listing extends ListingForm {
  readonly id: string;
  /** `delisted` after the number of guilty disputes that the profile's marketplace allows. */
  readonly state: 'listed' | 'delisted';
  readonly registeredAt: string;
  readonly refreshedAt: string;
  /** Elements of the tools/list result of the last registration or refresh: what buyers see. */
  readonly tools: readonly Json[];
}

/** A dispute and its verdict (C§1.7). */
export interface Dispute extends DisputeVerdict {
  readonly id: string;
  readonly listing: string;
  readonly tool: string;
  /** Id of the call in the traffic. */
  readonly call: number;
  /** The arguments of the call as text; absent in disputes that an earlier version stored. */
  readonly arguments?: string | undefined;
  readonly reason: 'schema_mismatch';
  readonly output: Json;
  readonly filedAt: string;
}

export interface DisputeVerdict {
  readonly verdict: 'guilty' | 'innocent' | 'manual_review';
  readonly problems: readonly Problem[];
}

/** A call that the author saved on the page. */
export interface SavedExample extends ToolExample {
  readonly endpoint: string;
  readonly tool: string;
}

/** The contents of `.market-mcp/marketplace.json`. */
export interface MarketplaceState {
  readonly schema: 1;
  readonly listings: readonly Listing[];
  readonly disputes: readonly Dispute[];
  readonly examples: readonly SavedExample[];
}

/** The finding of a failed rule. */
export function findingOf({ id, title, fix, problems }: RuleResult): StepFinding {
  return { rule: id, title, fix, problems };
}

/** A problem of one field of the form. Advice does not prevent a submission. */
export interface FieldProblem {
  readonly field: keyof ListingForm;
  readonly message: string;
  readonly advice: boolean;
}

/** Why a call failed, by what the server wrote meanwhile. */
export interface CallCause extends Cause {
  /** The code of the failure; null if there is none. */
  readonly code: string | null;
  /** The request to an API that failed: `GET /parcels/{id} of api.example.com: HTTP 401`; null if none did. */
  readonly source: string | null;
  /** What to do, one sentence; null if that is not known. */
  readonly fix: string | null;
  /** All that the server wrote during the call. */
  readonly lines: readonly string[];
}

/** One step of a long-running task. */
export interface RegistrationStep {
  readonly label: string;
  readonly status: 'running' | 'pass' | 'fail' | 'advice';
  /** The findings as text, one per line. */
  readonly details: readonly string[];
  /** The same by rule or by call, where problems were found. */
  readonly findings?: readonly StepFinding[];
}

/** The problems of one rule, or of one call. */
export interface StepFinding {
  /** The id of the rule. */
  readonly rule?: string;
  readonly title: string;
  /** What to change, for problems without a fix; empty if all have one. */
  readonly fix: string;
  readonly problems: readonly Problem[];
}

/** The result of a submission. */
export type Submission =
  | {
      readonly accepted: true;
      readonly listing: Listing;
      readonly rehearsal: readonly RehearsalStep[];
      /** The tools that were not called, because a call may change something. */
      readonly withheld: readonly string[];
    }
  | {
      readonly accepted: false;
      readonly fields: readonly FieldProblem[];
      /** The reasons, phrased so that an author can act on them. */
      readonly reasons: readonly string[];
      readonly rehearsal: readonly RehearsalStep[];
    };

export interface MarketplaceOptions {
  /** Directory that contains `.market-mcp/`: the project, or the current directory. */
  readonly directory: string;
  readonly profile: PlatformProfile;
  /** Signs the tokens. */
  readonly privateKey: KeyObject;
  /** The `iss` of the tokens. */
  readonly issuer: string;
  /** The author's own server, if known. */
  readonly endpoint?: string | undefined;
  /** The state of the author's server, if it belongs to a project. */
  readonly state?: () => Promise<ServerState>;
  /** Path of each tool's source in the project, by the tool's name. */
  readonly sources?: ReadonlyMap<string, string>;
  /** A text that changes whenever a source of the author's server does; absent if they are not known. */
  readonly version?: () => string;
  /** Initial values of the registration form. */
  readonly draft?: Partial<ListingForm>;
  /** Runs the contract on the author's server; absent if there is none. */
  readonly check?: (
    onRule: (id: string, completedCount: number, total: number) => void,
  ) => Promise<CheckReport>;
}

/** Errors that a caller can make deliberately. */
export const deliberateErrors = {
  'no-token': 'No token',
  expired: 'Expired token',
  'wrong-audience': 'Token for another endpoint',
  'wrong-key': 'Token signed with another key',
  batch: 'Unpaid call in a batch',
  slow: 'Slow client',
  'dropped-session': 'Dropped session',
} as const;

export type DeliberateError = keyof typeof deliberateErrors;

/** The `error` in the body of a refusal (C§7). */
export type DeliberateRefusal = 'Unauthorized' | 'Invalid session';

/** The refusal that the contract expects for a deliberate error; null if it expects the result. */
export function expectedRefusal(way: DeliberateError): DeliberateRefusal | null {
  if (way === 'slow') return null;
  if (way === 'dropped-session') return 'Invalid session';
  return 'Unauthorized';
}

/** Whether an answer is a certain refusal. C§7 leaves the status of `Unauthorized` open. */
export function isRefusedWith(refusal: DeliberateRefusal, status: number, [value]: readonly Json[]): boolean {
  if (!isObject(value) || value.error !== refusal) return false;
  if (refusal === 'Invalid session') return status === 400;
  return status >= 400 && status < 500;
}
