import { readingVerbs } from 'market-mcp-contract/definition';
import { projectName, toolFile } from '../model/names.ts';
import type { Field } from '../model/tool-model.ts';

/** Words in a directory's name that do not describe its tool. */
const fillers = new Set(
  'a an the my our new demo test app service server mcp market marketplace tool tools api create'.split(' '),
);

/** `gas-prices` → `get_gas_prices`, `find-hotels-mcp` → `find_hotels`. */
export function defaultToolName(directory: string | undefined): string {
  const words = (directory === undefined ? '' : projectName(directory))
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && !fillers.has(word));
  const [first = ''] = words;
  const nameWords =
    words.length > 1 && readingVerbs.has(first) ? words : ['get', ...(words.length > 0 ? words : ['record'])];
  return nameWords.join('_').slice(0, 64).replace(/_+$/, '');
}

/** Guesses from its name what the tool returns and when to use it (C§2.1). */
export function defaultDescription(
  tool: string,
  /** Names of the fields of the result, if they are known. */
  fields: readonly string[],
  returns?: 'record' | 'list',
): string {
  const subject = toolSubject(tool);
  const noun = returns === 'list' ? `the list of ${subject}` : `the ${subject}`;
  const holding = fields.length > 0 ? `, with ${nameEnumeration(fields)}` : '';
  return `Returns ${noun} for the given input${holding}. Use it when a question asks for the ${subject}.`;
}

export const defaultInput: readonly Field[] = [
  {
    name: 'query',
    required: true,
    type: 'string',
    examples: ['example', 'sample'],
    default: 'example',
    description: 'What to look up: a name or an id',
  },
];

export const defaultOutput: readonly Field[] = [
  { name: 'name', required: true, type: 'string', description: 'Name of the item' },
  { name: 'value', required: true, type: 'number', description: 'Current value of the item' },
  {
    name: 'updatedAt',
    required: true,
    type: 'string',
    format: 'date-time',
    description: 'When the value was last updated (ISO 8601)',
  },
];

function toolSubject(tool: string): string {
  const words = toolFile(tool)
    .split('-')
    .filter((word) => word !== '');
  const rest = readingVerbs.has(words[0] ?? '') ? words.slice(1) : words;
  return (rest.length > 0 ? rest : words).join(' ');
}

function nameEnumeration(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
