import type { InputError } from 'market-mcp-contract/command';
import type { Json, JsonObject } from 'market-mcp-contract/json';
import type { DefinitionChange, PreparedTool, SpecEntry } from '../model/tool-model.ts';

/** An imported tool, before it is checked by the contract. */
export interface ImportedTool {
  readonly entry: SpecEntry;
  /** Complete answers of the source that match the entry's outputSchema: the tool's sample data. */
  readonly sampleAnswers: readonly JsonObject[];
  /** What the import changed. */
  readonly changes: readonly DefinitionChange[];
  /** The tool's API request; absent if its author writes it. */
  readonly call?: ApiCall;
  /** What the API has really answered. */
  readonly exchanges?: readonly ToolExchange[];
  /** The values of its keys, by variable. They are written to `.env` only. */
  readonly secrets?: ReadonlyMap<string, string>;
  /** Paths of the chosen fields of its answer; empty: all. Absent if they cannot be chosen. */
  readonly fields?: readonly string[];
  /** How to shorten its definition, if it is long and fields can be chosen. */
  readonly advice?: readonly InputError[];
}

/** A tool that its author describes. */
export function toImportedTool(entry: SpecEntry): ImportedTool {
  return { entry, sampleAnswers: [], changes: [] };
}

/** The answer of an API to a call with these arguments, in the form of the tool. */
export interface ToolExchange {
  readonly arguments: JsonObject;
  /** Null for an empty result, as the `text` of a `TrialResponse`. */
  readonly answer: JsonObject | null;
  /** The headers that name the place of the response among pages. */
  readonly headers?: JsonObject | undefined;
  /** There is no answer, or it contains no data. */
  readonly isEmpty: boolean;
}

/** A checked tool and its API request. */
export interface CheckedTool extends PreparedTool, Pick<ImportedTool, 'call' | 'fields' | 'exchanges'> {}

/** An API that tools call: one file of `src/apis/`. */
export interface Api {
  /** Name of its file without extension: `github`. */
  readonly file: string;
  readonly title: string;
  /** Set if calls are forwarded to an MCP server instead of HTTP requests. */
  readonly kind?: 'mcp';
  /** The version of MCP that the server speaks, if it has no sessions. */
  readonly protocolVersion?: string;
  /** The variable with its address. */
  readonly address: ApiVariable;
  /** The keys that each request sends. */
  readonly sharedKeys: readonly ApiKey[];
  /** The keys that a request sends only if it names them. */
  readonly namedKeys?: readonly ApiKey[];
  /** The keys of the requests that name none themselves. */
  readonly auth?: KeyAlternatives;
}

/** Its address, and what its keys are made of. */
export function apiVariables({ address, sharedKeys, namedKeys = [] }: Api): readonly ApiVariable[] {
  return [address, ...[...sharedKeys, ...namedKeys].flatMap(({ variables }) => variables)];
}

/** Names of keys that are sent together, of which one such list is enough; an empty list needs no key. */
export type KeyAlternatives = readonly (readonly string[])[];

/** A key of an API, and its place in a request. */
export interface ApiKey {
  /** Its name in the file of the API: `bearerAuth`. */
  readonly key: string;
  readonly in: 'headers' | 'query' | 'body';
  /** Of the header, the parameter or the member. */
  readonly name: string;
  /** `basic` takes a user and a password; `client` a token URL, an id and a secret (RFC 6749 §4.4). */
  readonly kind: 'plain' | 'bearer' | 'basic' | 'cookie' | 'client';
  readonly variables: readonly ApiVariable[];
  /** Name of the cookie. */
  readonly cookie?: string;
  /** The scopes that a `client` requests for its tokens. */
  readonly scopes?: readonly string[];
  /** What stands before a plain one: `token `. */
  readonly prefix?: string;
}

/** A variable of `src/env.ts`. */
export interface ApiVariable {
  readonly name: string;
  readonly kind: 'secret' | 'url';
  readonly text: string;
  /** Default of an address. */
  readonly fallback?: string;
  /** The API also answers without this secret. */
  readonly optional?: true;
}

/** Where the value of a key is: in the request itself, or in the variable that its text or its API names. */
export type KeySource = { readonly value: string } | { readonly variable: string };

/** The styles of a query that generated code names, as the type of the same name in market-mcp-runtime/source. */
export type QueryStyle =
  | 'form'
  | 'comma'
  | 'space'
  | 'pipe'
  | 'deepObject'
  | 'json'
  | 'reserved'
  | 'reservedComma';

/** The styles of a path or a header that generated code names. `simple` is the default, which it does not name. */
export type PathStyle = 'simple*' | 'label' | 'label*' | 'matrix' | 'matrix*' | 'json';

/** A value of a request: an argument of the tool, a constant, or what is made of members. */
export interface BoundValue {
  /** The tool's name; absent: `constant` or what is made of `members` is sent. */
  readonly input?: string;
  readonly constant?: Json;
  /** What an object in a JSON body contains, or a list by position. */
  readonly members?: readonly Binding[];
  readonly isList?: true;
}

/** A value and its place in the request. */
export interface Binding extends BoundValue {
  /** The API's name; in a list, the position. */
  readonly name: string;
  readonly style?: QueryStyle | PathStyle;
}

/** `text`: a text is the whole body. `binary`: one file is the whole body. Files are arguments in base64. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'binary';

/** A part of a multipart body that is a file, or several. */
export interface FilePart {
  readonly name: string;
  /** The argument with the name of the file. */
  readonly fileName: string;
  readonly mediaType?: string;
}

export interface ApiBody {
  readonly kind: BodyKind;
  readonly content: BoundValue;
  /** Of a JSON body, the paths of texts that are sent as integers. */
  readonly integers?: readonly string[];
  /** Only for a multipart body. */
  readonly files?: readonly FilePart[];
  /** Media types of the other parts, by name. */
  readonly partTypes?: { readonly [part: string]: string };
  /** Absent if it is the usual one of the kind. */
  readonly mediaType?: string;
}

/** One request to an API, with places for arguments. */
export interface ApiRequest {
  readonly api: Api;
  /** `call`: calls a tool of an MCP server. Its name is the path after the slash; all arguments are the body. */
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'call';
  readonly path: string;
  readonly params: readonly Binding[];
  readonly query: readonly Binding[];
  readonly headers: readonly Binding[];
  /** Lists of keys that the operation accepts, of which one is enough; absent: every call sends what its API says. */
  readonly acceptedKeys?: readonly (readonly ApiKey[])[];
  /** The keys that its request names; absent: it states nothing. */
  readonly auth?: KeyAlternatives;
  readonly body: ApiBody | null;
  /** The protocol of a POST body, whose response has the answer in a member: `data` of GraphQL, `result` of JSON-RPC. */
  readonly envelope?: 'graphql' | 'json-rpc';
  /** It is a POST request that only reads, as its body or its author says. */
  readonly isReadByPost?: true;
  /** Arguments that the tool of an MCP server requires, and that are null if the caller gives none. */
  readonly nulls?: readonly string[];
}

/** The request of a tool, and what the tool makes of the answer. */
export interface ApiCall extends ApiRequest {
  /**
   * `text`: the answer is the text of an MCP result, which becomes `{ result }`. `done`: success without content becomes
   * `{ done: true }`.
   */
  readonly wrap: 'items' | 'result' | 'done' | 'text' | null;
  /** Members at the root of its answers that have one value in each success. */
  readonly success?: JsonObject;
  /** Headers of the answer become its members `next` and `total`. */
  readonly hasPages?: boolean;
  /** 404 means an empty result. */
  readonly notFoundIsEmpty: boolean;
}

/** The request of a call with its arguments, in the form of `RecordedRequest` of market-mcp-runtime. */
export type RecordedRequest = { readonly method: string; readonly path: string; readonly json?: Json } & {
  readonly [part in 'params' | 'query' | 'headers' | BodyKind]?: Json;
};

/** A recording in `test/recordings/`, as market-mcp-runtime reads it: made up until the author records a real one, or real. */
export interface Recording {
  readonly request: RecordedRequest;
  readonly status: number;
  readonly headers?: JsonObject;
  readonly body?: Json;
  readonly from: 'document' | 'recorded';
}

/** What a write returns whose success has no content. */
export const doneMember = {
  type: 'boolean',
  description: 'True if the API did this and answered without content.',
};
