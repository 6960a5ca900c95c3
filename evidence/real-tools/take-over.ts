import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InputError } from '../../packages/contract/src/command/input-result.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import type { DefinitionChange } from '../../src/model/tool-model.ts';
import { create, prove, scaffold } from '../../test/e2e/support.ts';
import { silentDifferences } from './compare.ts';

/** The result of importing the tools of one server. */
export interface TakenOver {
  readonly tools: number;
  /** The number of tools without an outputSchema, for which the command gives one. */
  readonly completed: number;
  readonly taken: number;
  readonly refused: readonly InputError[];
  readonly changes: readonly DefinitionChange[];
  /** MUST rules of the project's self-check: the number that passed, and the ids of those that failed. */
  readonly passed: number;
  readonly failed: readonly string[];
  readonly unitTests: boolean;
  readonly orderKept: boolean;
  /** Paths at which a served definition differs from the given one without a reported change. */
  readonly silent: readonly string[];
}

/**
 * Makes a project of a list of tools, compiles it, and runs its self-check and its unit tests. Refused tools
 * are left out with the flag that the error names.
 *
 * @throws Error if the project does not compile, or the program ends with an unexpected error
 */
export async function takeOver(given: readonly JsonObject[], place: string): Promise<TakenOver> {
  writeFileSync(join(place, 'tools.json'), JSON.stringify({ tools: given }));
  const flags = ['made', '--spec', 'tools.json', '--output-text', '--platform', 'context'];
  const refused = await refusedOf(flags, place);
  const names = [...new Set(refused.map(({ tool }) => tool ?? ''))];
  const except = names.length > 0 ? ['--except', names.join(',')] : [];
  const taken = given.filter(({ name }) => !names.includes(String(name)));
  const empty = { passed: 0, failed: [], unitTests: true, orderKept: true, silent: [], changes: [] };
  const counts = {
    tools: given.length,
    completed: given.filter(({ outputSchema }) => outputSchema === undefined).length,
    refused,
  };
  if (taken.length === 0) return { ...counts, ...empty, taken: 0 };

  const { directory, changes } = await scaffold([...flags, ...except], { cwd: place });
  const { report, unitTests } = await prove(directory);
  const must = report.rules.filter(({ level }) => level === 'must');
  const { tools } = await import(join(directory, 'dist/src/tools/index.js'));
  const served: readonly JsonObject[] = tools;
  return {
    ...counts,
    taken: taken.length,
    changes,
    passed: must.filter(({ status }) => status === 'pass').length,
    failed: must.filter(({ status }) => status === 'fail').map(({ id }) => id),
    unitTests: unitTests.status === 0,
    orderKept: served.every(({ name }, i) => name === taken[i]?.name),
    silent: taken.flatMap((tool) => {
      const { run: _, examples: __, ...own } = served.find(({ name }) => name === tool.name) ?? {};
      const told = changes.filter((change) => change.tool === tool.name);
      return silentDifferences(tool, own, told).map((path) => `${tool.name} ${path}`);
    }),
  };
}

async function refusedOf(flags: readonly string[], cwd: string): Promise<readonly InputError[]> {
  const { status, stdout } = await create([...flags, '--yes', '--json', '--dry-run'], { cwd });
  if (status === 0) return [];
  const { error } = JSON.parse(stdout);
  if (status !== 2 || !Array.isArray(error.refused)) throw new Error(`exited ${status}: ${stdout}`);
  return error.refused;
}
