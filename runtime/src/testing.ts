export { requireVariables } from './process.ts';
export { type CallOptions, type CallResult, callTool } from './server/call.ts';
