/** What a tool's definition says: its parts, its effect, the signals of its outcomes, its size. */
export type {
  Cause,
  Level,
  Methods,
  Problem,
  RehearsalStep,
  Report,
  RuleResult,
  ToolDefinition,
  ToolExample,
} from '../model.ts';
export {
  completeHints,
  type Effect,
  effectOfName,
  effects,
  onlyReads,
  readingVerbs,
  titleOf,
  verbIn,
  type WritingEffect,
  wordsOf,
  writingEffect,
} from './effect.ts';
export { toolNamePattern } from './name.ts';
export { lacksData, saysNothingFound } from './no-data.ts';
export { blankResult, resultOutcome, type SignalName, signals } from './outcomes.ts';
export { isPlaceholder, placeholderComment } from './placeholder.ts';
export { estimatedTokens } from './tokens.ts';
