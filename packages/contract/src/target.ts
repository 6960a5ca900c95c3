import type { JsonObject } from './json/value.ts';
import type { Cause, Era, Methods, Problem, ToolExample } from './model.ts';
import type { PlatformProfile } from './platforms/profile.ts';
import type { Wait } from './wire/rate-limit.ts';
import type { Recorder } from './wire/recording.ts';
import type { CallPolicy } from './wire/safety.ts';
import type { Signer } from './wire/signer.ts';

/** A running server, with what the caller knows of it. */
export interface TargetServer {
  /** The MCP endpoint (`http://127.0.0.1:4711/mcp`). */
  readonly url: string;
  readonly profile: PlatformProfile;
  /** The HTTP methods of the tools' API requests, if the server belongs to a project. */
  readonly methods?: Methods;
  /** Signs tokens that the server trusts; without it, rules that need a paid call are not run. */
  readonly signer?: Signer;
  /** Starts further instances; without it, rules about the process are not run. */
  readonly launch?: Launch;
  /** The process of the server if we started it: it is restarted once if it dies. */
  readonly owned?: OwnedServer;
  /** The runtime, if the server belongs to a generated project. */
  readonly runtime?: Runtime;
  /** Sent with every request, for instance the key of a gateway. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Secrets that the server has, by the names of their variables, if it belongs to a project. */
  readonly secrets?: ReadonlyMap<string, string>;
  /**
   * Tools of a project that may change something. `runs`: a call really changes it, so no arguments are sent but those of its
   * examples. `replays`: its source answers from recordings; a call without one is not checked.
   */
  readonly writing?: ReadonlyMap<string, 'runs' | 'replays'>;
  /** Tools of a project that still answer with samples, which need not depend on their arguments. */
  readonly sampled?: ReadonlySet<string>;
}

/** How a run checks its server. */
export interface RunSettings {
  /** Calls with expected outcomes, by tool name. */
  readonly examples?: ReadonlyMap<string, readonly ToolExample[]>;
  /** The eras of MCP to check; both by default. */
  readonly era?: Era;
  /** Records every request and its answer. */
  readonly record?: Recorder;
  /** Which tools may be called on a server that is not ours. By default every tool may be called. */
  readonly callPolicy?: CallPolicy;
  /** Generated calls for each tool: 12 by default. */
  readonly explore?: number;
  /** Chooses the generated calls: 1 by default. */
  readonly seed?: number;
  /** Whether the tools may call live APIs: then there are fewer generated calls, and at most two a second. */
  readonly mayCallLiveApis?: boolean;
  /** Called with a call that is not checked, because it has no recording. */
  readonly onUnrecorded?: (tool: string, args: JsonObject) => void;
  /** The time, by `nowMs()`, at which a run ends; the remaining rules are not run. */
  readonly deadlineAt?: number;
  /** The clock that measures the answers of the server, in milliseconds: `nowMs` by default. Timeouts and the deadline do not use it. */
  readonly responseClock?: () => number;
  /** Waits after HTTP 429, and until a session is old enough. Without it, the check does not wait. */
  readonly wait?: Wait;
  /** Timeout of every request in milliseconds. By default the limit of the profile and `graceMs`. */
  readonly timeoutMs?: number;
}

/** A running server, and the settings of its check. */
export interface Target extends TargetServer, RunSettings {}

/** The runtime in a project: files that this program wrote and nobody should edit. */
export interface Runtime {
  readonly version: string;
  /** The version of the program that checks it. */
  readonly newest: string;
  /** Members of the platform profile that differ between the server (`src/platform.ts`) and the check (`market-mcp.json`). */
  readonly differences: readonly Problem[];
}

/** A server process that can be replaced. */
export interface OwnedServer {
  /** The current process. */
  instance(): Instance;
  /** Ends it and starts a new one at the same address. */
  restart(): Promise<Instance>;
  /** How the current process ended, after a moment for its last output. */
  ending(): Promise<ProcessEnding>;
}

/** How a process stopped answering. */
export interface ProcessEnding {
  /** Absent if the process still runs. */
  readonly exit?: ProcessExit;
  /** The error that ended it, read from its output. */
  readonly cause?: Cause;
  /** Its last lines, if they contain no error. */
  readonly lastLines?: string;
}

/** Environment variables in addition to those of the target; undefined unsets one. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Starts another instance of the target, on a free port unless PORT is given, and waits until it answers or ends. */
export type Launch = (environment: Environment) => Promise<Instance>;

export interface Instance {
  /** The MCP endpoint. */
  readonly url: string;
  /** Whether GET /health was answered; if not, the process has ended, by itself or at the timeout. */
  readonly healthy: boolean;
  /** How the process ends. */
  readonly exit: Promise<ProcessExit>;
  /** The last lines of its standard output and standard error so far. */
  output(): string;
  signal(name: 'SIGTERM' | 'SIGINT'): void;
  /** Ends it, by force if necessary. */
  stop(): Promise<void>;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}
