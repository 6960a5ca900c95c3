export { inspectTools } from './rules/inspect.ts';
