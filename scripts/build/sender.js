// What sends a request of a tool: the source kit without what only a server needs.
export { basic, Secret, SourceError, sendOnce } from '../../packages/runtime/src/source.ts';
