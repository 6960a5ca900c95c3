import { isObject } from 'market-mcp-contract/json';
import type { ExactJson, ExactObject } from './exact-body.ts';

/**
 * Finds the text that the caller of a model writes: the content of the last message with the role user (`messages`, as
 * OpenAI and Anthropic have it), or the last text of `contents` (Gemini).
 *
 * @returns its path in the body; undefined if there is none
 */
export function userTextPath(body: ExactObject): readonly string[] | undefined {
  if (Array.isArray(body.messages)) {
    const messages: readonly ExactJson[] = body.messages;
    const at = messages.findLastIndex((message) => isObject(message) && message.role === 'user');
    const path = at < 0 ? undefined : textPath(exactMember(messages[at], 'content'));
    return path && ['messages', String(at), 'content', ...path];
  }
  if (!Array.isArray(body.contents)) return undefined;
  const contents: readonly ExactJson[] = body.contents;
  const path = textPath(exactMember(contents.at(-1), 'parts'));
  return path && ['contents', String(contents.length - 1), 'parts', ...path];
}

function exactMember(value: ExactJson | undefined, name: string): ExactJson | undefined {
  if (isObject(value)) return (value as ExactObject)[name];
  return undefined;
}

/** The path of a text: of the value itself, or of the last part that has one. */
function textPath(value: ExactJson | undefined): readonly string[] | undefined {
  if (typeof value === 'string') return [];
  if (!Array.isArray(value)) return undefined;
  const parts: readonly ExactJson[] = value;
  const at = parts.findLastIndex((part) => typeof exactMember(part, 'text') === 'string');
  if (at < 0) return undefined;
  return [String(at), 'text'];
}
