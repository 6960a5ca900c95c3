import {
  closest,
  type InputError,
  inputError,
  orList,
  pass,
  type Result,
  refuse,
} from 'market-mcp-contract/command';
import type { ImportedTool } from './imported-tool.ts';

/**
 * The tool that a value of a flag names before its first colon, and the rest. The name may be absent if there is one tool.
 *
 * @param flag for the error
 */
export function splitToolPrefix(
  tools: readonly ImportedTool[],
  text: string,
  flag: string,
): Result<{ readonly named: ImportedTool; readonly rest: string }> {
  const toolNames = tools.map(({ entry }) => String(entry.name));
  const at = text.indexOf(':');
  const prefix = text.slice(0, Math.max(0, at)).trim();
  const namedTool = tools[toolNames.indexOf(prefix)];
  if (namedTool) return pass({ named: namedTool, rest: text.slice(at + 1).trim() });
  const [first, ...otherTools] = tools;
  if (first && otherTools.length === 0 && (prefix === '' || closest(prefix, toolNames) === undefined))
    return pass({ named: first, rest: text });
  const near = closest(prefix, toolNames) ?? toolNames[0] ?? '';
  const [message, hint] = /^[\w.-]+$/.test(prefix)
    ? [
        `names ${prefix}, which is not imported`,
        `The tools are ${orList(toolNames.slice(0, 10))}. Did you mean ${near}?`,
      ]
    : [`names no tool, but ${tools.length} tools are imported`, `Write ${JSON.stringify(`${near}:${text}`)}`];
  return refuse(inputError(flag, text, message, hint));
}

/**
 * Tools with descriptions of their author.
 *
 * @param descriptions `Returns …` for one tool, `get_repo: Returns …` for one of several
 * @returns an error for each unknown tool, and for each that is described twice
 */
export function withDescriptions(
  tools: readonly ImportedTool[],
  descriptions: readonly string[],
): Result<readonly ImportedTool[]> {
  const errors: InputError[] = [];
  const texts = new Map<ImportedTool, string>();
  for (const text of descriptions) {
    const tool = splitToolPrefix(tools, text, '--description');
    if (!tool.ok) errors.push(...tool.errors);
    else if (texts.has(tool.value.named)) {
      const message = `describes ${tool.value.named.entry.name} a second time`;
      errors.push(inputError('--description', text, message, 'Give one description for each tool.'));
    } else texts.set(tool.value.named, tool.value.rest);
  }
  if (errors.length > 0) return refuse(...errors);
  const described = (tool: ImportedTool): ImportedTool => {
    const description = texts.get(tool);
    if (description === undefined) return tool;
    return { ...tool, entry: { ...tool.entry, description } };
  };
  return pass(tools.map(described));
}
