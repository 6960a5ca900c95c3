import { isObject } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import { bounds, isReadable } from '../json/walk.ts';
import type { Methods, Problem, RuleResult, RuleText } from '../model.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { staticRules } from '../static-rules.ts';
import { now } from '../wire/clock.ts';
import { effectiveRule, unless, verdict } from './rule.ts';
import { readable } from './tool.ts';

/**
 * The verdict of every static rule on a list of tools (elements of a `tools/list` result). Never throws: the list may
 * contain any JSON. An element that is not an object or is too large fails `tool.readable` and is not checked further; neither
 * are the tools beyond the limits.
 *
 * @param others tools of the same list that are not checked themselves.
 */
export function inspectTools(
  tools: readonly unknown[],
  profile: PlatformProfile,
  others: readonly unknown[] = [],
  methods: Methods = new Map(),
  selects?: (rule: RuleText) => boolean,
): readonly RuleResult[] {
  const within = tools.slice(0, bounds.tools);
  const beyond = unless(tools.length + others.length <= bounds.tools, {
    path: 'tools/list result.tools',
    expected: `at most ${bounds.tools} tools`,
    actual: 'more tools; those beyond the limit were not checked',
  });
  const examined = within.filter(isTool);
  const beside = others.slice(0, bounds.tools).filter(isTool);
  const siblings = examined.map((tool) => [...examined.filter((other) => other !== tool), ...beside]);
  return staticRules.flatMap((staticRule) => {
    const effective = effectiveRule(staticRule, profile, selects);
    if (!effective) return [];
    const { rule, level } = effective;
    const started = now();
    const judged = rule === readable ? (within as readonly JsonObject[]) : examined;
    const problems = judged.flatMap((tool, index) =>
      rule.inspect(tool, siblings[index] ?? [], profile, methods).map((problem) => withTool(tool, problem)),
    );
    return [verdict(rule, level, rule === readable ? [...beyond, ...problems] : problems, started)];
  });
}

function isTool(value: unknown): value is JsonObject {
  return isObject(value) && isReadable(value);
}

function withTool(tool: unknown, problem: Problem): Problem {
  return isObject(tool) && typeof tool.name === 'string' ? { tool: tool.name, ...problem } : problem;
}
