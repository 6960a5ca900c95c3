export { requireVariables } from './process.ts';
export { type CallOptions, type CallResult, callTool, type Incident } from './server/call.ts';
