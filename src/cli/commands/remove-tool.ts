import { type ExitCode, nameList, type Output } from 'market-mcp-contract/command';
import { planRemoval } from '../../changes/removal.ts';
import type { RemoveToolSwitches } from '../../questions/add-tool.ts';
import { gitCommand } from '../../system/command-line.ts';
import { changeTools } from '../tools/finish-change.ts';

/** `market-mcp remove-tool <name…>`: removes the files, updates the list of tools, builds, runs the self-check. */
export function removeTool(
  names: readonly string[],
  output: Output,
  switches: RemoveToolSwitches,
): Promise<ExitCode> {
  return changeTools(
    {
      plan: (project) => planRemoval(project, names, switches.force === true),
      question: 'Remove these files?',
      lines: ({ change, sources: { gone } }) => [
        ...change.removed,
        ...(gone.length > 0 ? [`${nameList(gone)} from the variables of the project`] : []),
      ],
      made: 'removed ',
      done: `${nameList(names)} ${names.length === 1 ? 'was' : 'were'} removed`,
      notes: ({ sources: { kept } }) => {
        for (const { path, why: reason } of kept) output.note(`${path} was kept: ${reason}`);
      },
      undo: (directory, { change: { removed, files } }) =>
        `${gitCommand(directory, ['restore'], [...removed, ...files.keys()])} (restores only what was committed)`,
      contents: ({ change, sources: { gone, kept } }) => ({
        tools: names,
        removed: change.removed,
        variables: gone,
        kept,
      }),
    },
    switches,
    output,
  );
}
