import { type InputError, inputError, pass, type Result, reject } from 'market-mcp-contract/command';
import {
  isPlaceholder,
  type Problem,
  type RuleResult,
  type ToolDefinition,
  type ToolExample,
} from 'market-mcp-contract/definition';
import {
  clientMismatches,
  type Json,
  type JsonObject,
  propertiesOf,
  requiredOf,
} from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { inspectToolList } from 'market-mcp-contract/report';
import { addressScope, type SubmissionCall, submissionCalls, submissionHarm } from 'market-mcp-contract/wire';
import { type Fixed, fix } from '../fixes/fix.ts';
import { ownersOf, toolFile } from '../model/names.ts';
import type { DefinitionChange, PreparedTool, SpecEntry, ToolSpec } from '../model/tool-model.ts';
import { samplesOf } from '../samples/samples.ts';
import { definitionOf } from '../tools/definition.ts';
import { toolSpecOf } from '../tools/tool-spec.ts';
import {
  type Api,
  type ApiCall,
  apiVariables,
  type CheckedTool,
  type ImportedTool,
} from './imported-tool.ts';

/** The prepared tools of create and add-tool, after all questions are answered. */
export interface PreparedTools {
  readonly tools: readonly CheckedTool[];
  readonly changes: readonly DefinitionChange[];
  /** SHOULD rules that the tools do not pass, and what their import advises. They are reported, and do not stop the command. */
  readonly advice: readonly InputError[];
}

/** A tool whose definition was fixed. Its location in the list names it in errors. */
interface FixedTool extends Fixed {
  readonly imported: ImportedTool;
  readonly location: string;
}

/**
 * Prepares the tools of a project: definitions that meet every static rule of the contract under a platform's profile, the answers of
 * their source or sample answers, examples, and the changes.
 *
 * @param existingTools definitions of the server's existing tools. They are not checked; new tools are compared with them.
 * @returns the tools, or every error of every tool, with the names of the tools without errors
 */
export function prepareTools(
  importedTools: readonly ImportedTool[],
  profile: PlatformProfile,
  existingTools: readonly ToolDefinition[] = [],
): Result<PreparedTools> {
  const { fixedTools, errors } = fixTools(importedTools, profile);
  const clashErrors = nameClashErrors(fixedTools);
  const clashLocations = new Set(clashErrors.map((error) => error.where));
  const distinctTools = fixedTools.filter(({ location }) => !clashLocations.has(`${location}.name`));
  const failedRules = inspectToolList(
    distinctTools.map(({ definition }) => definition),
    profile,
    existingTools,
    methodsOf(importedTools),
  ).filter(({ problems }) => problems.length > 0);
  errors.push(...clashErrors, ...failedRules.filter(({ level }) => level === 'must').flatMap(ruleErrors));
  const rejectedNames = new Set(errors.map(({ tool }) => tool));
  const tools: CheckedTool[] = [];
  for (const fixedTool of fixedTools) {
    const { name } = fixedTool.definition;
    if (rejectedNames.has(name)) continue;
    const tool = withSamples(fixedTool, profile);
    if (tool.ok) tools.push(tool.value);
    else errors.push(...tool.errors.map((error) => ({ ...error, tool: name })));
  }
  if (errors.length > 0)
    return { ok: false, errors, accepted: tools.map(({ definition }) => definition.name) };
  const changes = [...importedTools, ...fixedTools].flatMap((tool) => tool.changes);
  const failedAdvice = failedRules.filter(({ level }) => level === 'should');
  return pass({ tools, changes, advice: adviceFor(importedTools, tools, failedAdvice, profile) });
}

/** Fixes each definition until it meets the contract. If a definition cannot be fixed, its errors are returned instead. */
function fixTools(importedTools: readonly ImportedTool[], profile: PlatformProfile) {
  const errors: InputError[] = [];
  const fixedTools: FixedTool[] = [];
  for (const [i, imported] of importedTools.entries()) {
    const { entry } = imported;
    const location = entryLocation(entry, i, importedTools.length);
    const fixed = fixEntry(entry, profile, location);
    const { name } = entry;
    if (fixed.ok) fixedTools.push({ ...fixed.value, imported, location });
    else if (typeof name === 'string')
      errors.push(...fixed.errors.map((error) => ({ ...error, tool: name })));
    else errors.push(...fixed.errors);
  }
  return { fixedTools, errors };
}

/** The methods of the API requests, by tool. */
function methodsOf(
  importedTools: readonly ImportedTool[],
): ReadonlyMap<string, readonly [ApiCall['method']]> {
  const methods = new Map<string, readonly [ApiCall['method']]>();
  for (const { entry, call } of importedTools) if (call) methods.set(String(entry.name), [call.method]);
  return methods;
}

/** A fixed tool with its samples, its examples and its request. */
function withSamples(
  { definition, imported, location }: FixedTool,
  profile: PlatformProfile,
): Result<CheckedTool> {
  const { entry, sampleAnswers } = imported;
  const statedExamples = isDefinition(entry) ? [] : ((entry as ToolSpec).examples ?? []);
  const samples = samplesOf(definition, statedExamples, profile.smoke, location);
  if (!samples.ok) return samples;
  return pass(withCall(withSampleAnswers(samples.value, sampleAnswers), imported));
}

function adviceFor(
  importedTools: readonly ImportedTool[],
  tools: readonly CheckedTool[],
  failedAdvice: readonly RuleResult[],
  profile: PlatformProfile,
): readonly InputError[] {
  const addresses = importedTools.flatMap(({ call }) => (call ? addressAdvice(call.api) : []));
  const sizes = importedTools.flatMap((imported) => imported.advice ?? []);
  const isSizeAdvised = sizes.length > 0 && importedTools.every(({ fields }) => fields !== undefined);
  const definitions = tools.map(({ definition }) => ({ ...definition }));
  return [
    ...new Map(addresses.map((advice) => [advice.where, advice])).values(),
    ...sizes,
    ...submissionCalls(definitions, profile.smoke).flatMap(harmAdvice),
    ...failedAdvice
      // The advice of this rule is less exact than the advice of the import.
      .filter(({ id }) => !isSizeAdvised || id !== 'fit.tokens-tool')
      .flatMap(ruleAdvice),
  ];
}

function harmAdvice(call: SubmissionCall): readonly InputError[] {
  const { says, fix } = submissionHarm(call);
  if (call.writes) return [inputError(call.tool, undefined, says, fix)];
  return [];
}

/** `get_price`, with its position if several entries may have the same name. */
function entryLocation(entry: { readonly name?: unknown }, index: number, count: number): string {
  const name = typeof entry.name === 'string' && entry.name !== '' ? entry.name : undefined;
  if (count === 1) return name ?? 'tool';
  return `tools[${index}]${name === undefined ? '' : ` (${name})`}`;
}

function fixEntry(entry: SpecEntry, profile: PlatformProfile, location: string): Result<Fixed> {
  if (isDefinition(entry)) {
    if (!('input' in entry || 'output' in entry)) return fix(entry, profile.smoke, location);
    const hint = 'Keep input and output (our ToolSpec), or inputSchema and outputSchema (an MCP definition).';
    return reject(location, undefined, 'mixes a ToolSpec with an MCP definition', hint);
  }
  const spec = toolSpecOf(entry, location);
  if (spec.ok) return fix({ ...definitionOf(spec.value) }, profile.smoke, location);
  return spec;
}

/** Tools that callers or file systems could not distinguish. */
function nameClashErrors(definitions: readonly FixedTool[]): readonly InputError[] {
  const owners = ownersOf(definitions.map(({ definition }) => definition.name));
  return definitions.flatMap(({ definition: { name }, location }, i) => {
    const owner = owners[i];
    if (owner === undefined) return [];
    const conflict = `conflicts with ${owner}: both would be the file ${toolFile(name)}.ts`;
    const message = owner === name ? 'is used twice' : conflict;
    return [
      { ...inputError(`${location}.name`, name, message, `Rename one of them: ${name}_2.`), tool: name },
    ];
  });
}

/** One hint for each rule, with its first problem and the number of problems. */
function ruleAdvice(rule: RuleResult): readonly InputError[] {
  const errors = ruleErrors(rule);
  const [first] = errors;
  if (first === undefined) return [];
  const { id, title, fix: hint, problems } = rule;
  const single = `fails ${id} (${title}): expected ${problems[0]?.expected}`;
  const message = errors.length === 1 ? single : `fails ${id} in ${errors.length} places (${title})`;
  return [{ ...first, message, hint }];
}

function ruleErrors({ id, title, fix: fixOfRule, problems }: RuleResult): readonly InputError[] {
  return problems.map(({ tool, path, expected, actual, fix: fixOfProblem }: Problem) => ({
    ...(tool !== undefined && { tool }),
    rule: id,
    where: [tool, path].filter((part) => part !== undefined).join('.'),
    value: actual,
    message: `${title} (${id}): expected ${expected}`,
    hint: fixOfProblem ?? fixOfRule,
  }));
}

/** Whether an entry is a plain MCP tool definition. */
function isDefinition(entry: SpecEntry): entry is JsonObject {
  return 'inputSchema' in entry || 'outputSchema' in entry;
}

/** An address on this machine or its link is rarely intended: the document may be wrong, or hostile. */
function addressAdvice(api: Api): readonly InputError[] {
  return apiVariables(api).flatMap(({ name, fallback }) => {
    const scope = fallback === undefined ? 'elsewhere' : addressScope(new URL(fallback));
    if (scope === 'elsewhere') return [];
    const consequence =
      scope === 'loopback'
        ? 'In production, the API must run beside the server.'
        : 'In production, the server refuses it unless SOURCES_LINK_LOCAL=allow is set.';
    const message = `${fallback} is a ${scope} address`;
    return [inputError(name, undefined, message, `Check that you trust it. ${consequence}`)];
  });
}

/** Each sample gets the answer that contains its key, else the next one with its key inserted. */
function withSampleAnswers(tool: PreparedTool, answers: readonly JsonObject[]): PreparedTool {
  if (answers.length === 0) return tool;
  const { keyParameter: name } = tool;
  const samples = tool.samples.map(({ key, answer }, i) => {
    const nextAnswer = answers[i % answers.length] ?? answer;
    if (name === null || key === null) return { key, answer: nextAnswer };
    const sampleOfKey = answers.find((sample) => answerMember(sample, name) === key);
    if (sampleOfKey !== undefined) return { key, answer: sampleOfKey };
    const hasKeyMember = typeof answerMember(nextAnswer, name) === typeof key;
    return { key, answer: hasKeyMember ? { ...nextAnswer, [name]: key } : nextAnswer };
  });
  return { ...tool, samples };
}

/** A tool with its request. An API that never signals an empty result has no example call with the outcome empty. */
function withCall(tool: PreparedTool, { entry, call, fields, exchanges }: ImportedTool): CheckedTool {
  const importedTool = { ...tool, fields, exchanges };
  if (!call) return importedTool;
  const realExamples = exchanges?.map(
    ({ arguments: args, isEmpty }): ToolExample => ({
      arguments: args,
      expect: isEmpty ? 'empty' : 'found',
    }),
  );
  const examples = realExamples ?? madeUpExamples(tool, call);
  return {
    ...importedTool,
    examples,
    call: call.method === 'call' ? { ...call, nulls: nullsOf(tool, entry) } : call,
  };
}

/** The examples of a tool that was not called, with the examples of its optional parameters. */
function madeUpExamples({ definition, examples }: PreparedTool, call: ApiCall): readonly ToolExample[] {
  const { inputSchema } = definition;
  const optionalArguments = propertiesOf(inputSchema).flatMap(([name, { examples: values, $comment }]) => {
    const [value] = Array.isArray(values) && !isPlaceholder($comment) ? (values as readonly Json[]) : [];
    if (value === undefined) return [];
    return [[name, value] as const];
  });
  return examples
    .filter(({ expect }) => expect !== 'empty' || call.notFoundIsEmpty)
    .map((example) => {
      const allArguments = { ...Object.fromEntries(optionalArguments), ...example.arguments };
      const isValid = clientMismatches(inputSchema, allArguments, '').length === 0;
      if (isValid) return { ...example, arguments: allArguments };
      return example;
    });
}

/** A required parameter that may be null becomes an optional one, but the server still requires it. */
function nullsOf({ definition }: PreparedTool, entry: SpecEntry): readonly string[] {
  const required = 'inputSchema' in entry ? requiredOf(entry.inputSchema) : [];
  return required.filter((name) => !requiredOf(definition.inputSchema).includes(name));
}

function answerMember(answer: JsonObject, name: string): Json | undefined {
  if (Object.hasOwn(answer, name)) return answer[name];
  return undefined;
}
