import { capitalize } from '../model/names.ts';
import type { PlannedFile } from './planned-file.ts';

/** Path of the generated list of tools. */
export const toolsIndex = 'src/tools/index.ts';

/**
 * The list of tools, in the order of `tools/list`: the marketplace's judge takes the first if a dispute names none (app
 * api/v1/tools/dispute/route.ts).
 *
 * @param files names without extension, in order: `get-gas-price`
 */
export function planToolsIndex(files: readonly string[]): PlannedFile {
  return {
    path: toolsIndex,
    template: 'project/src/tools/index.ts.hbs',
    context: toolsIndexContext(files),
    owner: 'generated',
  };
}

/** The files in order, each with a unique identifier. */
export function toolsIndexContext(files: readonly string[]) {
  const usedIdentifiers = new Set(['tools', 'Tool', ...reservedWords]);
  const tools = files.map((file) => {
    const identifier = freeIdentifier(file, usedIdentifiers);
    usedIdentifiers.add(identifier);
    return { module: `./${file}.ts`, identifier };
  });
  return { tools };
}

/** `get-gas-price` → `getGasPrice` */
function freeIdentifier(file: string, usedIdentifiers: ReadonlySet<string>): string {
  const words = file.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const plainName = words.map((word, index) => (index === 0 ? word : capitalize(word))).join('');
  const base =
    /^[A-Za-z]/.test(plainName) && !usedIdentifiers.has(plainName)
      ? plainName
      : `tool${capitalize(plainName)}`;
  let identifier = base;
  for (let count = 2; usedIdentifiers.has(identifier); count += 1) identifier = `${base}${count}`;
  return identifier;
}

const reservedWords = (
  'arguments as async await boolean break case catch class const continue debugger default delete do else enum eval ' +
  'export extends false finally for function if implements import in instanceof interface let new null package ' +
  'private protected public return static super switch this throw true try type typeof undefined var void while with yield'
).split(' ');
