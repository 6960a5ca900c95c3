import { isObject } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import { bounds, isReadable } from '../json/walk.ts';
import type { Methods, Problem, RuleResult, RuleText } from '../model.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { staticRules } from '../static-rules.ts';
import { nowMs } from '../wire/clock.ts';
import { effectiveRule, problemUnless, verdict } from './rule.ts';
import { readable } from './tool.ts';

/**
 * The verdict of every static rule on a list of tools (elements of a `tools/list` result). Never throws: the list may
 * contain any JSON. An element that is not an object or is too large fails `tool.readable` and is not checked further; neither
 * are the tools beyond the limits.
 *
 * @param otherTools tools of the same list that are not checked themselves.
 */
export function inspectToolList(
  tools: readonly unknown[],
  profile: PlatformProfile,
  otherTools: readonly unknown[] = [],
  methods: Methods = new Map(),
  selects?: (rule: RuleText) => boolean,
): readonly RuleResult[] {
  const includedTools = tools.slice(0, bounds.tools);
  const beyond = problemUnless(tools.length + otherTools.length <= bounds.tools, {
    path: 'tools/list result.tools',
    expected: `at most ${bounds.tools} tools`,
    actual: 'more tools; those beyond the limit were not checked',
  });
  const examined = includedTools.filter(isTool);
  const otherValidTools = otherTools.slice(0, bounds.tools).filter(isTool);
  const siblings = examined.map((tool) => [
    ...examined.filter((sibling) => sibling !== tool),
    ...otherValidTools,
  ]);
  return staticRules.flatMap((staticRule) => {
    const effective = effectiveRule(staticRule, profile, selects);
    if (!effective) return [];
    const { rule, level } = effective;
    const startedAt = nowMs();
    const checkedTools = rule === readable ? (includedTools as readonly JsonObject[]) : examined;
    const problems = checkedTools.flatMap((tool, index) =>
      rule.inspect(tool, siblings[index] ?? [], profile, methods).map((problem) => withTool(tool, problem)),
    );
    return [verdict(rule, level, rule === readable ? [...beyond, ...problems] : problems, startedAt)];
  });
}

function isTool(value: unknown): value is JsonObject {
  return isObject(value) && isReadable(value);
}

function withTool(tool: unknown, problem: Problem): Problem {
  if (isObject(tool) && typeof tool.name === 'string') return { tool: tool.name, ...problem };
  return problem;
}
