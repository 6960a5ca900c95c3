export type { BodyParts } from './source/body.ts';
export type { Envelope } from './source/envelope.ts';
export { failed, SourceError, type SourceErrorCode } from './source/errors.ts';
export {
  type HttpSource,
  type HttpSourceOptions,
  httpSource,
  type RequestOptions,
  type WriteOptions,
} from './source/http-source.ts';
export { type McpCall, type McpSource, type McpSourceOptions, mcpSource } from './source/mcp-source.ts';
export { type Answered, sendOnce } from './source/once.ts';
export type { Pages } from './source/pages.ts';
export type { QueryStyle } from './source/request.ts';
export { basic, Secret } from './source/secret.ts';
export { type ClientCredentials, clientCredentials } from './source/token.ts';
