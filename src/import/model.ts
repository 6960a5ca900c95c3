import type { Json, JsonObject } from '../contract/model.ts';
import type { Change, PreparedTool, SpecEntry } from '../model/model.ts';

/** A tool that was made from something that exists, before it is judged by the contract. */
export interface Imported {
  readonly entry: SpecEntry;
  /** Complete answers of the source, which fit the entry's outputSchema: the tool's sample data. */
  readonly answers: readonly JsonObject[];
  /** What was changed on the way from the document to the entry. */
  readonly changes: readonly Change[];
  /** How the tool asks its API; absent where its author writes that. */
  readonly call?: ApiCall;
}

/** A tool that was judged, and how it asks its API. */
export interface ImportedTool extends PreparedTool {
  readonly call?: ApiCall;
}

/** An API that tools ask: one file of `src/apis/`. */
export interface Api {
  /** Name of its file, without ending: `github`. */
  readonly file: string;
  readonly title: string;
  /** An MCP server, to which calls are forwarded; absent where requests of HTTP are made. */
  readonly kind?: 'mcp';
  /** Name of the variable that holds its address. */
  readonly baseUrl: string;
  readonly headers: readonly Credential[];
  readonly query: readonly Credential[];
  readonly variables: readonly ApiVariable[];
}

/** A header or query parameter that carries secrets. */
export interface Credential {
  readonly name: string;
  /** `basic` takes a user and a password. */
  readonly kind: 'plain' | 'bearer' | 'basic' | 'cookie';
  /** Names of the variables. */
  readonly variables: readonly string[];
  /** Name of the cookie. */
  readonly cookie?: string;
}

/** A variable of `src/env.ts`. */
export interface ApiVariable {
  readonly name: string;
  readonly kind: 'secret' | 'url';
  readonly text: string;
  /** Of an address. */
  readonly fallback?: string;
  /** Of a secret: the API answers without it too. */
  readonly optional?: true;
}

export type QueryStyle = 'comma' | 'space' | 'pipe' | 'deepObject' | 'json';

/** An argument of the tool and where it goes. */
export interface Binding {
  /** As the API names it. */
  readonly name: string;
  /** As the tool names it. */
  readonly input: string;
  readonly style?: QueryStyle;
}

/** One request of a tool to its API. */
export interface ApiCall {
  readonly api: Api;
  /** `call`: of a tool of an MCP server, whose name is the path after its slash; all arguments are the body. */
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'call';
  readonly path: string;
  readonly params: readonly Binding[];
  readonly query: readonly Binding[];
  readonly headers: readonly Binding[];
  /** Members of the body, or the one argument that is the body; null where there is none. */
  readonly body: {
    readonly kind: 'json' | 'form';
    readonly members: readonly Binding[] | string;
  } | null;
  /** `text`: the answer is the text of an MCP result, which becomes `{ result }`. */
  readonly wrap: 'items' | 'result' | 'text' | null;
  /** 404 means that there is nothing. */
  readonly notFoundIsEmpty: boolean;
}

/** The request of a call with its arguments, as the source kit writes and reads it in `test/recordings/`. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly params?: JsonObject;
  readonly query?: JsonObject;
  readonly headers?: JsonObject;
  readonly json?: Json;
  readonly form?: JsonObject;
}

/** An answer of the API that stands in for a real one until the author records it. */
export interface Recording {
  readonly request: RecordedRequest;
  readonly status: number;
  readonly body?: Json;
  readonly from: 'document';
}
