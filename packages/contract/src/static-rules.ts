import type { RuleText } from './model.ts';
import { costRules } from './rules/cost.ts';
import { dialectRules } from './rules/dialect.ts';
import { fitHintRules } from './rules/fit-hints.ts';
import { fitSchemaRules } from './rules/fit-schema.ts';
import { fitSizeRules } from './rules/fit-size.ts';
import { fitTextRules } from './rules/fit-text.ts';
import { inputRules } from './rules/input.ts';
import { metaRules } from './rules/meta.ts';
import { outputRules } from './rules/output.ts';
import { parameterHeader } from './rules/parameter-header.ts';
import type { StaticRule } from './rules/rule.ts';
import { readable, toolRules } from './rules/tool.ts';

/** The rules about the definitions, in the order of the report. */
export const staticRules: readonly StaticRule[] = [
  readable,
  ...toolRules,
  ...inputRules,
  ...outputRules,
  ...dialectRules,
  ...costRules,
  ...metaRules,
  ...fitHintRules,
  ...fitSizeRules,
  ...fitSchemaRules,
  ...fitTextRules,
  parameterHeader,
];

const staticIds = new Set(staticRules.map(({ id }) => id));

/** Whether a rule needs only the definitions. */
export function isStatic({ id }: RuleText): boolean {
  return staticIds.has(id);
}
