import { CommandError } from 'market-mcp-contract/command';
import type { Json } from 'market-mcp-contract/json';
import type { FileSet, ProjectFile } from '../plan/planned-file.ts';
import { listingContent, listingFile } from '../project/manifest/listed.ts';
import {
  type Manifest,
  manifestContent,
  manifestFile,
  withoutFingerprints,
} from '../project/manifest/manifest.ts';
import type { Project } from '../project/opened-project.ts';
import { refuseObstacles } from '../project/read/resolve-inside.ts';
import type { Plan } from '../project/write/change.ts';
import { marketCommand } from '../system/command-line.ts';

/**
 * Plans `listing.json`: the tools of a project, by their sources, as the list that the marketplace has read.
 *
 * @throws CommandError `COMPUTED_DEFINITION` if a definition is not literal
 */
export function planToolList({ directory, manifest, tools }: Project): Plan {
  const definitions: Json[] = [];
  const computed: string[] = [];
  for (const { path, source } of tools.filter(({ isServed }) => isServed)) {
    if (source.definition) definitions.push({ ...source.definition });
    else computed.push(path);
  }
  if (computed.length > 0) throw computedDefinition(computed);
  refuseObstacles(directory, [listingFile]);
  const files = new Map<string, ProjectFile>([
    [listingFile, listingContent(definitions)],
    ...manifestWithoutFingerprints(manifest),
  ]);
  return { change: { files, removed: [] } };
}

/** Plans the removal of the fingerprints that the manifest of an older project has; nothing if it has none. */
export function planFingerprintRemoval(manifest: Manifest): Plan {
  const files = manifestWithoutFingerprints(manifest);
  return { change: files.size === 0 ? null : { files, removed: [] } };
}

function manifestWithoutFingerprints(manifest: Manifest): FileSet {
  if (manifest.listed === undefined) return new Map();
  return new Map([[manifestFile, manifestContent(withoutFingerprints(manifest))]]);
}

function computedDefinition(paths: readonly string[]): CommandError {
  const message = 'a definition is computed at run time, so it cannot be recorded from its source';
  const hint = `Record the list of the running server: ${marketCommand('check', '--save-listing')}`;
  return new CommandError('COMPUTED_DEFINITION', message, hint, { details: paths });
}
