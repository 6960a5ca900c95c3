import { describe, expect, it } from 'vitest';
import { explanations } from '../../src/check/explain/index.ts';
import type { Example } from '../../src/check/explain/model.ts';
import { inspectTools, rules, staticRules } from '../../src/contract/index.ts';
import type { JsonObject } from '../../src/contract/model.ts';
import { context } from '../../src/contract/platforms/index.ts';
import { goodTools } from '../broken/good-tools.ts';

/** The parts of an example laid over the good tools, as a tool list. */
function toolsOf(example: Exclude<Example, string>): readonly JsonObject[] {
  const [first, ...others] = goodTools.map(({ definition }) => ({ ...definition }));
  return [...example.map((part) => ({ ...first, ...part })), ...others];
}

function failuresOf(example: Exclude<Example, string>): readonly string[] {
  return inspectTools(toolsOf(example), context)
    .filter(({ status }) => status === 'fail')
    .map(({ id }) => id);
}

describe('explanations', () => {
  it('are there for every rule, and for nothing else', () => {
    expect(Object.keys(explanations).toSorted()).toEqual(rules.map(({ id }) => id).toSorted());
  });

  it('say why, and show two different examples', () => {
    for (const { why, failing, passing } of Object.values(explanations)) {
      expect(why).toMatch(/[.?]$/);
      expect(failing).not.toEqual(passing);
    }
  });

  it.each(staticRules.map(({ id }) => id))('of %s show what fails and what passes', (id) => {
    const { failing = '', passing = '' } = explanations[id] ?? {};
    if (typeof failing === 'string' || typeof passing === 'string') return;
    expect(failuresOf(failing)).toContain(id);
    expect(failuresOf(passing)).not.toContain(id);
  });
});
