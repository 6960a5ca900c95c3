import { type ExitCode, nameList, type Output, singleLine } from 'market-mcp-contract/command';
import { planRename, type Renaming } from '../../changes/rename.ts';
import { manifestFile } from '../../project/manifest/manifest.ts';
import type { RenameToolSwitches } from '../../questions/add-tool.ts';
import { marketCommand } from '../../system/command-line.ts';
import { definitionChangeLines } from '../create/creation-lines.ts';
import { changeTools } from '../tools/finish-change.ts';

/** `market-mcp rename-tool <old> <new>`: renames the tool wherever the project names it, builds, runs the self-check. */
export function renameTool(
  from: string,
  to: string,
  output: Output,
  switches: RenameToolSwitches,
): Promise<ExitCode> {
  return changeTools(
    {
      plan: (project) => planRename(project, from, to),
      question: 'Change these files?',
      lines: changedFiles,
      notes: ({ left, mentions }) => {
        for (const line of definitionChangeLines(left)) output.note(singleLine(line));
        if (mentions.length > 0)
          output.note(`${from} is still in ${nameList(mentions)}: change it if it is this tool`);
        output.note(
          `the marketplace sees that ${from} was removed and ${to} was added: until it reads the tools again, calls of ${from} fail`,
        );
      },
      done: `${from} was renamed to ${to}`,
      undo: () => marketCommand('rename-tool', to, from, '--yes', '--no-check'),
      contents: ({ change, moved, left, mentions }) => ({
        renamed: { from, to },
        moved: Object.fromEntries(moved),
        files: [...change.files.keys()],
        changes: left,
        mentions,
      }),
    },
    switches,
    output,
  );
}

/** Each changed file, with its old path if it has another one. */
function changedFiles({ change, moved }: Renaming): readonly string[] {
  const before = new Map(moved.map(([from, to]) => [to, from]));
  return [...change.files.keys()]
    .filter((path) => path !== manifestFile)
    .map((path) => {
      const from = before.get(path);
      return from === undefined ? path : `${from} → ${path}`;
    });
}
