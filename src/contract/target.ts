import type { Cause, ToolExample } from './model.ts';
import type { CallPolicy } from './probe/safety.ts';
import type { PlatformProfile } from './profile.ts';
import type { Signer } from './signer.ts';

/** A running server and what is known of it. */
export interface Target {
  /** The MCP endpoint (`http://127.0.0.1:4711/mcp`). */
  readonly url: string;
  readonly profile: PlatformProfile;
  /** Calls with expected outcomes, by tool name. */
  readonly examples?: ReadonlyMap<string, readonly ToolExample[]>;
  /** Holds the key that the server trusts; without it nothing that takes a paid call is judged. */
  readonly signer?: Signer;
  /** Starts further instances; without it nothing about the process is judged. */
  readonly launch?: Launch;
  /** The process that serves the URL, where it is ours: one that dies is started again once. */
  readonly owned?: OwnedServer;
  /** The runtime of the server, where it is that of a project of ours. */
  readonly runtime?: Runtime;
  /** Sent with every request (a gateway's own key, for instance). */
  readonly headers?: Readonly<Record<string, string>>;
  /** What may be called, where the server is not ours; every tool where absent. */
  readonly calls?: CallPolicy;
  /** The reading of `now()` at which a run ends with what it has; rules that it has not come to are not run. */
  readonly deadlineAt?: number;
  /** Milliseconds that bound every request, in place of what the profile grants and `graceMs`. */
  readonly timeoutMs?: number;
}

/** The runtime that a project carries: the files that this program has written and nobody should edit. */
export interface Runtime {
  /** The version that wrote it. */
  readonly version: string;
  /** The version of the program that checks it. */
  readonly newest: string;
  /** Paths of its files that are not as they were written, or gone. */
  readonly edited: readonly string[];
}

/** A server process that can be replaced. */
export interface OwnedServer {
  /** The process that serves now. */
  instance(): Instance;
  /** Ends it and starts another one at the same address. */
  restart(): Promise<Instance>;
  /** How the process that serves now has ended, after a moment for its last output. */
  ending(): Promise<Ending>;
}

/** How a process came to answer nothing any more. */
export interface Ending {
  /** Absent where the process still runs. */
  readonly exit?: Exit;
  /** The error that ended it, as far as its output tells. */
  readonly cause?: Cause;
  /** The last lines it wrote, where they tell of no error. */
  readonly lastLines?: string;
}

/** Environment variables on top of those the target runs with; undefined unsets one. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Starts another instance of the target, on a free port unless PORT is given, and waits until it answers or ends. */
export type Launch = (environment: Environment) => Promise<Instance>;

export interface Instance {
  /** The MCP endpoint. */
  readonly url: string;
  /** Whether GET /health was answered; where not, the process has ended, by itself or because time ran out. */
  readonly healthy: boolean;
  /** How the process ends. */
  readonly exit: Promise<Exit>;
  /** The end of what it has written so far to standard output and standard error. */
  output(): string;
  signal(name: 'SIGTERM' | 'SIGINT'): void;
  /** Ends it in any case. */
  stop(): Promise<void>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}
