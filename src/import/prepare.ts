import { type InputError, inputError } from 'market-mcp-contract/command';
import type { ToolDefinition, ToolExample } from 'market-mcp-contract/definition';
import { type Json, type JsonObject, requiredOf } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { reachOf } from 'market-mcp-contract/wire';
import type { Prepared, PreparedTool, SpecEntry } from '../model/model.ts';
import { type Preparation, prepare } from '../tools/prepare.ts';
import type { Api, Imported, ImportedTool } from './model.ts';

/** `Prepared`, with the API requests of the tools. */
export interface ImportedPrepared extends Prepared {
  readonly tools: readonly ImportedTool[];
}

/**
 * `prepare` for tools that may come with answers of their source, which replace the generated ones.
 *
 * @param others definitions of the server's existing tools
 */
export function prepareImported(
  imported: readonly Imported[],
  profile: PlatformProfile,
  others: readonly ToolDefinition[] = [],
): Preparation<ImportedPrepared> {
  const preparation = prepare(
    imported.map(({ entry }) => entry),
    profile,
    others,
    new Map(imported.flatMap(({ entry, call }) => (call ? [[String(entry.name), [call.method]]] : []))),
  );
  if (!preparation.ok) return preparation;
  const { tools, changes, advice } = preparation.prepared;
  const all = [...imported.flatMap((one) => one.changes), ...changes];
  const answered = tools.map((tool, i) => {
    const { answers = [], fields, exchanges } = imported[i] ?? {};
    const own = withCall(withAnswers(tool, answers), imported[i]);
    return { ...own, ...(fields && { fields }), ...(exchanges && { exchanges }) };
  });
  const addresses = imported.flatMap(({ call }) => (call ? addressAdvice(call.api) : []));
  const distinct = new Map(addresses.map((one) => [one.where, one]));
  const sizes = imported.flatMap((one) => one.advice ?? []);
  const isSaid = sizes.length > 0 && imported.every(({ fields }) => fields !== undefined);
  // The advice of the rule is less exact than that of the import.
  const further = advice.filter(({ message }) => !isSaid || !message.includes('(fit.tokens-tool)'));
  const own = [...distinct.values(), ...sizes, ...further];
  return { ok: true, prepared: { tools: answered, changes: all, advice: own } };
}

/** An address on this machine or its link is rarely meant: the document may be wrong, or hostile. */
function addressAdvice({ variables }: Api): readonly InputError[] {
  return variables.flatMap(({ name, fallback }) => {
    const reach = fallback === undefined ? 'elsewhere' : reachOf(new URL(fallback));
    if (reach === 'elsewhere') return [];
    const use =
      reach === 'loopback'
        ? 'In production, the API must run beside the server.'
        : 'In production, the server refuses it unless SOURCES_LINK_LOCAL=allow is set.';
    const message = `${fallback} is a ${reach} address`;
    return [inputError(name, undefined, message, `Check that you trust it. ${use}`)];
  });
}

/** Each sample gets the answer that contains its key, else the next one with its key inserted. */
function withAnswers(tool: PreparedTool, answers: readonly JsonObject[]): PreparedTool {
  if (answers.length === 0) return tool;
  const { keyParameter: name } = tool;
  const samples = tool.samples.map(({ key, answer }, i) => {
    const next = answers[i % answers.length] ?? answer;
    if (name === null || key === null) return { key, answer: next };
    const own = answers.find((one) => memberOf(one, name) === key);
    const isEcho = typeof memberOf(next, name) === typeof key;
    return { key, answer: own ?? (isEcho ? { ...next, [name]: key } : next) };
  });
  return { ...tool, samples };
}

/** An API that never signals an empty result has no example call with the outcome empty. */
function withCall(tool: PreparedTool, imported: Imported | undefined): ImportedTool {
  const { entry, call } = imported ?? {};
  if (!call) return tool;
  const real = imported?.exchanges?.map(
    ({ arguments: given, answer, isEmpty }): ToolExample => ({
      arguments: given,
      expect: answer === null || isEmpty ? 'empty' : 'found',
    }),
  );
  const examples = real ?? tool.examples.filter(({ expect }) => expect !== 'empty' || call.notFoundIsEmpty);
  return {
    ...tool,
    examples,
    call: call.method === 'call' ? { ...call, nulls: nullsOf(tool, entry) } : call,
  };
}

/** A required parameter that may be null becomes an optional one, but the server still requires it. */
function nullsOf({ definition }: PreparedTool, entry: SpecEntry | undefined): readonly string[] {
  const required = entry && 'inputSchema' in entry ? requiredOf(entry.inputSchema) : [];
  return required.filter((name) => !requiredOf(definition.inputSchema).includes(name));
}

function memberOf(answer: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(answer, name) ? answer[name] : undefined;
}
