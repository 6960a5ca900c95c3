import { type InputError, inputError, type Result, reject } from 'market-mcp-contract/command';
import type { Methods, Problem, RuleResult, ToolDefinition } from 'market-mcp-contract/definition';
import type { JsonObject } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { inspectTools } from 'market-mcp-contract/report';
import { type SubmissionCall, submissionCalls, submissionHarm } from 'market-mcp-contract/wire';
import { type Fixed, fix } from '../fixes/fix.ts';
import type { Prepared, SpecEntry, ToolSpec } from '../model/model.ts';
import { ownersOf, toolFile } from '../model/names.ts';
import { samplesOf } from '../samples/samples.ts';
import { definitionOf } from './definition.ts';
import { toolSpecOf } from './tool-spec.ts';

/** Prepared tools, or every error of every tool, with the names of the tools without errors. */
export type Preparation<P = Prepared> =
  | { readonly ok: true; readonly prepared: P }
  | { readonly ok: false; readonly errors: readonly InputError[]; readonly accepted: readonly string[] };

/** One tool in progress: its place in the list, and its results so far. */
interface Judged extends Fixed {
  readonly entry: SpecEntry;
  readonly where: string;
}

/**
 * Prepares the tools of a project from the author's input: definitions that meet every static rule of the
 * contract under a platform's profile, sample answers, examples, and the changes.
 *
 * @param others definitions of the server's existing tools. They are not judged; new tools are compared with them.
 * @param methods HTTP methods of the tools' API requests
 * @returns all of it, or every error of every tool, with the names of the tools without errors
 */
export function prepare(
  entries: readonly SpecEntry[],
  profile: PlatformProfile,
  others: readonly ToolDefinition[] = [],
  methods?: Methods,
): Preparation {
  const errors: InputError[] = [];
  const judged = entries.flatMap((entry, i): Judged[] => {
    const where = whereOf(entry, i, entries.length);
    const fixed = fixedOf(entry, profile, where);
    if (fixed.ok) return [{ ...fixed.value, entry, where }];
    const { name } = entry;
    errors.push(...fixed.errors.map((one) => (typeof name === 'string' ? { ...one, tool: name } : one)));
    return [];
  });
  const clashes = clashErrors(judged);
  errors.push(...clashes);
  const clashing = new Set(clashes.map(({ where }) => where));
  const distinct = judged.filter(({ where }) => !clashing.has(`${where}.name`));
  const definitions = distinct.map(({ definition }) => definition);

  const failed = inspectTools(definitions, profile, others, methods).filter(
    ({ problems }) => problems.length > 0,
  );
  errors.push(...failed.filter(({ level }) => level === 'must').flatMap(ruleErrors));
  const refused = new Set(errors.map(({ tool }) => tool));
  const prepared = judged
    .filter(({ definition }) => !refused.has(definition.name))
    .flatMap(({ definition, entry, where }) => {
      const samples = samplesOf(
        definition,
        isDefinition(entry) ? [] : ((entry as ToolSpec).examples ?? []),
        profile.smoke,
        where,
      );
      if (samples.ok) return [samples.value];
      errors.push(...samples.errors.map((one) => ({ ...one, tool: definition.name })));
      return [];
    });
  if (errors.length > 0) {
    return { ok: false, errors, accepted: prepared.map(({ definition }) => definition.name) };
  }
  const ready = prepared.map(({ definition }) => ({ ...definition }));
  const advice = [
    ...submissionCalls(ready, profile.smoke).flatMap(harmAdvice),
    ...failed.filter(({ level }) => level === 'should').flatMap(ruleAdvice),
  ];
  const changes = judged.flatMap((tool) => tool.changes);
  return { ok: true, prepared: { tools: prepared, changes, advice } };
}

function harmAdvice(call: SubmissionCall): readonly InputError[] {
  const { says, fix } = submissionHarm(call);
  return call.writes ? [inputError(call.tool, undefined, says, fix)] : [];
}

/** `get_price`, with its place if several entries may have the same name. */
function whereOf(entry: { readonly name?: unknown }, index: number, of: number): string {
  const name = typeof entry.name === 'string' && entry.name !== '' ? entry.name : undefined;
  if (of === 1) return name ?? 'tool';
  return `tools[${index}]${name === undefined ? '' : ` (${name})`}`;
}

function fixedOf(entry: SpecEntry, profile: PlatformProfile, where: string): Result<Fixed> {
  if (isDefinition(entry)) {
    if (!('input' in entry || 'output' in entry)) return fix(entry, profile.smoke, where);
    const hint = 'Keep input and output (our ToolSpec), or inputSchema and outputSchema (an MCP definition).';
    return reject(where, undefined, 'mixes a ToolSpec with an MCP definition', hint);
  }
  const spec = toolSpecOf(entry, where);
  return spec.ok ? fix({ ...definitionOf(spec.value) }, profile.smoke, where) : spec;
}

/** Tools that callers or file systems could not distinguish. */
function clashErrors(judged: readonly Judged[]): readonly InputError[] {
  const owners = ownersOf(judged.map(({ definition }) => definition.name));
  return judged.flatMap(({ definition: { name }, where }, i) => {
    const other = owners[i];
    if (other === undefined) return [];
    const both = `conflicts with ${other}: both would be the file ${toolFile(name)}.ts`;
    const message = other === name ? 'is used twice' : both;
    return [{ ...inputError(`${where}.name`, name, message, `Rename one of them: ${name}_2.`), tool: name }];
  });
}

/** One hint for each rule, with its first place and the number of others. */
function ruleAdvice(rule: RuleResult): readonly InputError[] {
  const [first, ...others] = ruleErrors(rule);
  if (first === undefined) return [];
  const more =
    others.length > 0 ? `; the same in ${others.length} more ${others.length > 1 ? 'places' : 'place'}` : '';
  return [{ ...first, message: `${first.message}${more}`, hint: rule.fix }];
}

function ruleErrors({ id, title, fix: fixOfRule, problems }: RuleResult): readonly InputError[] {
  return problems.map(({ tool, path, expected, actual, fix: exact }: Problem) => ({
    ...(tool !== undefined && { tool }),
    where: [tool, path].filter((part) => part !== undefined).join('.'),
    value: actual,
    message: `${title} (${id}): expected ${expected}`,
    hint: exact ?? fixOfRule,
  }));
}

/** Whether an entry is a plain MCP tool definition. */
function isDefinition(entry: SpecEntry): entry is JsonObject {
  return 'inputSchema' in entry || 'outputSchema' in entry;
}
