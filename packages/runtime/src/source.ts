export { type ClientCredentials, clientCredentials } from './source/access-token.ts';
export type { Envelope } from './source/envelope.ts';
export { httpSource } from './source/http-source.ts';
export type {
  HttpSource,
  HttpSourceOptions,
  RequestOptions,
  WriteOptions,
} from './source/http-source-options.ts';
export { type McpCall, type McpSource, type McpSourceOptions, mcpSource } from './source/mcp-source.ts';
export type { Pages } from './source/pages.ts';
export type { BodyParts } from './source/request-body.ts';
export type { QueryStyle } from './source/request-parameters.ts';
export { basic, Secret } from './source/secret.ts';
export { failed, SourceError, type SourceErrorCode } from './source/source-errors.ts';
export { type Answered, sendOnce } from './source/trial-request.ts';
