import { describe, expect, it } from 'vitest';
import { rules } from '../../packages/contract/src/catalogue.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import type { Level } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import type { Example } from '../../packages/contract/src/rules/explanation.ts';
import { explanations } from '../../packages/contract/src/rules/explanations.ts';
import { inspectToolList } from '../../packages/contract/src/rules/inspect.ts';
import { staticRules } from '../../packages/contract/src/static-rules.ts';
import { goodTools } from '../broken/good-tools.ts';

/** The good tools with the parts of an example merged in, as a tool list. */
function toolsOf(example: Exclude<Example, string>): readonly JsonObject[] {
  const [first, ...others] = goodTools.map(({ definition }) => ({ ...definition }));
  return [...example.map((part) => ({ ...first, ...part })), ...others];
}

function failuresOf(example: Exclude<Example, string>, level?: Level): readonly string[] {
  return inspectToolList(toolsOf(example), context)
    .filter((result) => result.status === 'fail' && (level === undefined || result.level === level))
    .map(({ id }) => id);
}

/** The two examples of a rule, if they are definitions. */
function definitionsIn(id: string) {
  const { failing = '', passing = '' } = explanations[id] ?? {};
  return typeof failing === 'string' || typeof passing === 'string' ? undefined : { failing, passing };
}

describe('explanations', () => {
  it('exist for exactly the rules of the catalogue', () => {
    expect(Object.keys(explanations).toSorted()).toEqual(rules.map(({ id }) => id).toSorted());
  });

  it('give a reason and two different examples', () => {
    for (const { why, failing, passing } of Object.values(explanations)) {
      expect(why).toMatch(/[.?]$/);
      expect(failing).not.toEqual(passing);
    }
  });

  it('show definitions for rules about definitions, except for elements that are none, or long', () => {
    const told = staticRules.filter(({ id }) => definitionsIn(id) === undefined);
    expect(told.map(({ id }) => id)).toEqual([
      'tool.readable',
      'schema.repeated-scans',
      'fit.tokens-tool',
      'fit.tokens-list',
      'fit.description-length',
      'fit.enum-size',
    ]);
  });

  const shown = staticRules.flatMap(({ id }) => {
    const definitions = definitionsIn(id);
    return definitions ? [{ id, ...definitions }] : [];
  });
  it.each(shown)(
    'of $id show a definition that fails it and one that passes every MUST',
    ({ id, failing, passing }) => {
      expect(failuresOf(failing)).toContain(id);
      expect(failuresOf(passing)).not.toContain(id);
      expect(failuresOf(passing, 'must')).toEqual([]);
    },
  );
});
