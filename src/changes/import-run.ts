import type { Result } from 'market-mcp-contract/command';
import type { JsonObject } from 'market-mcp-contract/json';
import type { ListedServer } from '../import/mcp-tools.ts';
import type { OpenApiDocument } from '../import/openapi/openapi-document.ts';
import type { KeylessCommand } from '../import/request/curl-text.ts';
import type { TrialResponse } from '../project/source/trial.ts';

/** An OpenAPI document that was read, and where. */
export interface LocatedDocument {
  readonly document: Result<OpenApiDocument>;
  /** Names it in errors. */
  readonly location: string;
  readonly url: string | null;
}

/** The response of an API to a request with these arguments. */
export interface ApiResponse extends TrialResponse {
  readonly arguments: JsonObject;
}

/**
 * The memory of one run of create or add-tool. Several questions and the plan use the same sources: each source is read once, and each
 * request is sent once; only a read that failed may be sent again.
 */
export interface ImportRun {
  /** By path or URL. */
  readonly documents: Map<string, LocatedDocument>;
  /** By URL. */
  readonly servers: Map<string, ListedServer>;
  /** By the request with its arguments and keys. */
  readonly responses: Map<string, Promise<readonly ApiResponse[]>>;
  /** Values of keys that the author has typed at the terminal, by origin and variable. */
  readonly typedKeys: Map<string, string>;
  /** By the text of the command. */
  readonly keylessCommands: Map<string, KeylessCommand>;
}

export function startImport(): ImportRun {
  return {
    documents: new Map(),
    servers: new Map(),
    responses: new Map(),
    typedKeys: new Map(),
    keylessCommands: new Map(),
  };
}
