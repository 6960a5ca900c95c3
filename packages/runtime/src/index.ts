export {
  type Data,
  defineTool,
  type Input,
  type Json,
  type JsonObject,
  type ObjectSchema,
  type Outcome,
  type Outcomes,
  signals,
  type Tool,
  type ToolDefinition,
  type ToolExample,
  type TypedTool,
} from './server/define-tool.ts';
export type { Operation, Refusal, SessionChange, Upstream } from './server/log.ts';
