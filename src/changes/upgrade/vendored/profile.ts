import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from 'market-mcp-contract/json';
import type { Manifest } from '../../../project/manifest/manifest.ts';
import { isAsWritten } from '../../../project/read/files.ts';
import { readIfThere } from '../../../project/read/inside.ts';
import { textOf } from '../../../project/read/text.ts';
import { LiteralReader } from '../../../typescript/literal.ts';
import { treeOf } from '../../../typescript/tree.ts';

/** Until 0.2.0 this file contained the whole profile, and an author's edits in it counted. */
const platformFile = 'src/platform.ts';

/** The platform profile that an author has edited in `src/platform.ts`; undefined if it is as it was written, or no literal. */
export function editedProfile(directory: string, { schema, files }: Manifest): Json | undefined {
  const content = readIfThere(directory, platformFile);
  const recorded = files[platformFile]?.sha256;
  if (schema === 3 || !content || recorded === undefined || isAsWritten(content, recorded)) return undefined;
  return new LiteralReader(treeOf(textOf(content))).constant('platform');
}

/** Values with the changes that lead from `base` to `ours`. */
export function withChanges(base: Json | undefined, ours: Json, theirs: Json | undefined): Json {
  if (isDeepStrictEqual(base, ours)) return theirs ?? ours;
  if (!isObject(ours) || !isObject(theirs)) return ours;
  const before = isObject(base) ? base : {};
  const entries = Object.entries(ours).map(([name, value]) => {
    return [name, withChanges(before[name], value as Json, theirs[name])] as const;
  });
  return { ...theirs, ...Object.fromEntries(entries) };
}
