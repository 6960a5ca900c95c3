import { describe, expect, it } from 'vitest';
import { rules } from '../../packages/contract/src/catalogue.ts';
import type { RuleResult } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { inspectToolList } from '../../packages/contract/src/rules/inspect.ts';
import { ruleCases } from '../../packages/contract/src/rules/rule.ts';
import { checkServer, failuresOf } from './check.ts';
import { brokenDefinitions } from './definitions.ts';
import { definitionsOf, good } from './edited.ts';
import { brokenFit } from './fit-definitions.ts';
import { brokenPrograms } from './servers/process.ts';
import { brokenServers } from './servers.ts';
import { rowsOf } from './variant.ts';

const definitions = rowsOf(brokenDefinitions, brokenFit);
const programs = rowsOf(brokenPrograms);

/** Rules that an answer of the server prevented, where no rule that judges this answer failed. */
function unexplained(results: readonly RuleResult[]): readonly string[] {
  const byId = new Map(results.map((result) => [result.id, result]));
  const explains = (id: string): boolean => {
    const { status, see = [] } = byId.get(id) ?? {};
    return status === 'fail' || (status === 'not-run' && see.some(explains));
  };
  return results.flatMap(({ id, see }) => (see && !see.some(explains) ? [id] : []));
}

describe('definitions', () => {
  it('pass when they are good', () => {
    expect(inspectToolList(good, context).filter(({ status }) => status !== 'pass')).toEqual([]);
  });

  it.each(definitions)('fail $rule when they break it', ({ fails, what }) => {
    const { tools, methods } = definitionsOf(what);
    expect(failuresOf(inspectToolList(tools, context, [], methods))).toEqual(fails);
  });
});

describe('a server', () => {
  it('passes every rule when it is good', async () => {
    const { rules } = await checkServer({});
    expect(
      rules.filter(({ status, id }) => status !== 'pass' && !/^process\.|^health\.ready-/.test(id)),
    ).toEqual([]);
  });

  it.concurrent.each(brokenServers)('fails $rule when it breaks it', async ({ rule, fails, what }) => {
    const { rules } = await checkServer(what, rule);
    expect(failuresOf(rules)).toEqual(fails);
    expect(unexplained(rules)).toEqual([]);
  });
});

describe('the catalogue', () => {
  it('has a broken variant of every rule and of every case', () => {
    const broken = new Set([...definitions, ...brokenServers, ...programs].map(({ rule }) => rule));
    const ids = rules.flatMap(ruleCases).map(({ id }) => id);
    expect(ids.filter((id) => !broken.has(id))).toEqual([]);
  });

  it('has unique ids', () => {
    const ids = rules.flatMap(ruleCases).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
