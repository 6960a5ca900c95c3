import { type Addition, nameError, planAddition } from '../../changes/addition.ts';
import { entriesOf } from '../../changes/entries.ts';
import { type ExitCode, exitCodes, unwrap } from '../../model/command-error.ts';
import { pass } from '../../model/input-error.ts';
import type { Result } from '../../model/model.ts';
import { findProject, manifestFile } from '../../project/manifest/manifest.ts';
import type { Project } from '../../project/model.ts';
import { openProject } from '../../project/read/open.ts';
import { changeProject } from '../../project/write/change.ts';
import { type AddToolSwitches, addToolQuestions, addToolSwitches } from '../../questions/add-tool.ts';
import { type Flags, readFlags } from '../../questions/read-flags.ts';
import type { ToolParts } from '../../questions/tool.ts';
import { givenFlags, requiredParts, type ToolAnswers, toolAnswers } from '../../questions/tool-answers.ts';
import { marketCommand } from '../../system/command-line.ts';
import { type Answering, canAsk, collectAnswers } from '../answers.ts';
import { firstEditOf, showNext, showPrepared } from '../create/format.ts';
import { reviewLines, reviewWidth } from '../create/review.ts';
import { toCommandError } from '../errors.ts';
import type { Output } from '../output.ts';
import { finishChange, nameList, removeCommand, showDrift } from '../tools/format.ts';

/** `market-mcp add-tool [name]`: answers, files in memory, files on disk, build, self-check. */
export async function addTool(
  flags: Flags<ToolParts>,
  switches: AddToolSwitches,
  output: Output,
): Promise<ExitCode> {
  const given = unwrap(readFlags<ToolParts>(addToolQuestions, flags));
  const asks = !switches.yes && !switches.json && canAsk();
  const lists = given.search !== undefined || (given.operation === undefined && !asks);
  if (given.fromOpenapi !== undefined && lists) {
    const { listOperations } = await import('../tools/operations.ts');
    return listOperations(given.fromOpenapi, given.search, output);
  }
  const project = await openProject(findProject(process.cwd()));
  const answers = await collectAnswers(answering(given, project, switches, output), switches);
  // Read before the lock is taken: standard input may take long.
  const entries = unwrap(await entriesOf(answers, project.profile));
  const { directory } = project;
  const plan = async () => planAddition(await openProject(directory), entries);

  if (switches.dryRun) {
    const addition = await plan();
    const { showDryRun } = await import('../tools/dry-run.ts');
    showDryRun(directory, addition.change, contents(addition), output);
    return exitCodes.ok;
  }
  const addition = await changeProject(directory, plan);
  showAddition(addition, output);
  if (addition.change === null) {
    output.result({ ok: true, directory, ...contents(addition), selfCheck: null, undo: null });
    return exitCodes.ok;
  }
  const names = namesOf(addition);
  const done = `${nameList(names)} ${names.length === 1 ? 'was' : 'were'} added`;
  const undo = removeCommand(names);
  await finishChange({ directory, done, undo, contents: { ...contents(addition), undo } }, switches, output);
  const edits = addition.prepared.tools.flatMap((tool) => firstEditOf(tool) ?? []);
  const distinct = edits.filter(({ edit }, index) => edits.findIndex((one) => one.edit === edit) === index);
  if (distinct.length > 0) showNext(distinct, undefined, output);
  return exitCodes.ok;
}

function answering(
  given: Partial<ToolParts>,
  project: Project,
  { check }: AddToolSwitches,
  output: Output,
): Answering<ToolAnswers> {
  return {
    asked: given.ask,
    missing: requiredParts(given)
      .filter((name) => given[name] === undefined)
      .map((name) => addToolQuestions[name].flag.syntax),
    complete: () => toolAnswers(given),
    async ask() {
      const { askAll } = await import('../prompts/flow.ts');
      return askAll({
        title: 'market-mcp add-tool',
        given,
        before: [],
        after: [],
        tool: addToolQuestions.tool,
        complete: toolAnswers,
        review: (answers) => review(answers, project),
        resume: (parts, ask) =>
          marketCommand(
            'add-tool',
            ...givenFlags<ToolParts>(addToolQuestions, { ...parts, ask }),
            ...(check ? [] : [addToolSwitches.check.syntax]),
          ),
        interrupted: (cancelled) => output.error(toCommandError(cancelled)),
        nameError: (name) => nameError(project, name),
      });
    },
  };
}

/** What the author confirms before anything is written. */
async function review(answers: ToolAnswers, project: Project): Promise<Result<readonly string[]>> {
  const entries = await entriesOf(answers, project.profile);
  if (!entries.ok) return entries;
  const { change, prepared } = planAddition(project, entries.value);
  const place = `${change?.files.size ?? 0} files in ${project.directory}`;
  return pass(reviewLines(place, prepared, reviewWidth()));
}

function showAddition({ change, prepared, unchanged, drift }: Addition, output: Output): void {
  if (unchanged.length > 0)
    output.done(`nothing to do for ${nameList(unchanged)}: already added with the same answers`);
  if (change === null) return;
  for (const path of change.files.keys()) if (path !== manifestFile) output.done(path);
  showPrepared(prepared, output);
  showDrift(drift, output);
}

function contents(addition: Addition) {
  const { change, prepared, unchanged, drift } = addition;
  return {
    tools: namesOf(addition),
    unchanged,
    files: change === null ? [] : [...change.files.keys()],
    changes: prepared.changes,
    advice: prepared.advice,
    refresh: drift,
  };
}

function namesOf({ prepared }: Addition): readonly string[] {
  return prepared.tools.map(({ definition }) => definition.name);
}
