import {
  type ExitCode,
  exitCodes,
  nameList,
  type Output,
  pass,
  toCommandError,
  unwrap,
} from 'market-mcp-contract/command';
import { type Addition, nameError, planAddition } from '../../changes/addition.ts';
import { type ImportRun, startImport } from '../../changes/import-run.ts';
import { importTools, secretsOf } from '../../changes/import-tools.ts';
import { saveKeys } from '../../changes/save-keys.ts';
import type { ImportedTool } from '../../import/imported-tool.ts';
import { findProject, manifestFile } from '../../project/manifest/manifest.ts';
import type { Project } from '../../project/opened-project.ts';
import { existingDotEnv } from '../../project/read/dot-env.ts';
import { openProject } from '../../project/read/open.ts';
import { changeProject } from '../../project/write/change.ts';
import { type AddToolSwitches, addToolQuestions, addToolSwitches } from '../../questions/add-tool.ts';
import {
  flagsForAnswers,
  type PartialAnswers,
  type RequestPlace,
  requiredQuestions,
  withDefaults,
} from '../../questions/partial-answers.ts';
import { type Flags, readFlags } from '../../questions/read-flags.ts';
import { toolAnswers } from '../../questions/tool-answers.ts';
import type { ToolQuestionAnswers } from '../../questions/tool-questions.ts';
import { marketCommand } from '../../system/command-line.ts';
import { type AnswerPlanning, listChoices, planFromAnswers } from '../collect-answers.ts';
import { firstEditFor, reviewLines, reviewWidth, showNext, showPrepared } from '../create/creation-lines.ts';
import { finishChange } from '../tools/finish-change.ts';
import { showDrift } from '../tools/tool-drift.ts';

/** `market-mcp add-tool [name]`: answers, files in memory, files on disk, build, self-check. */
export async function addTool(
  tool: string | undefined,
  output: Output,
  flags: Flags<ToolQuestionAnswers> & AddToolSwitches,
): Promise<ExitCode> {
  const flagAnswers = unwrap(readFlags<ToolQuestionAnswers>(addToolQuestions, { ...flags, tool }));
  const run = startImport();
  const exitCodeOfList = await listChoices(flagAnswers, flags, run, output);
  if (exitCodeOfList !== undefined) return exitCodeOfList;
  const project = await openProject(findProject(process.cwd()));
  const initialAnswers = { ...flagAnswers, ...requestPlaceOf(project) };
  // Read before the lock is taken: standard input may take long.
  const importedTools = await planFromAnswers(
    additionPlanning(initialAnswers, project, flags, run, output),
    flags,
  );
  const { directory } = project;
  const secrets = secretsOf(importedTools);
  const plan = async () => planAddition(await openProject(directory), importedTools);

  if (flags.dryRun) {
    const addition = await plan();
    const { showDryRun } = await import('../tools/dry-run.ts');
    return showDryRun(directory, addition.change, additionJson(addition), output);
  }
  const addition = await changeProject(directory, plan);
  showAddition(addition, output);
  const saved = await saveKeys(directory, secrets);
  if (saved) output[saved.isSaved ? 'done' : 'note'](saved.sentence);
  if (addition.change === null) {
    return output.result({ ok: true, directory, ...additionJson(addition), selfCheck: null, undo: null });
  }
  const names = addedToolNames(addition);
  const successText = `${nameList(names)} ${names.length === 1 ? 'was' : 'were'} added`;
  const undo = marketCommand('remove-tool', ...names, '--yes', '--no-check');
  const madeChange = { directory, done: successText, undo, contents: { ...additionJson(addition), undo } };
  const exitCode = await finishChange(madeChange, flags, output);
  const dotEnv = existingDotEnv(directory);
  const edits = addition.prepared.tools.flatMap((tool) => firstEditFor(tool, dotEnv) ?? []);
  const distinctEdits = edits.filter(
    ({ edit }, index) => edits.findIndex((otherEdit) => otherEdit.edit === edit) === index,
  );
  if (exitCode === exitCodes.ok) showNext(distinctEdits, output);
  return exitCode;
}

function showAddition({ change, prepared, unchanged, drift }: Addition, output: Output): void {
  if (unchanged.length > 0)
    output.done(`nothing to do for ${nameList(unchanged)}: already added with the same answers`);
  if (change === null) return;
  for (const path of change.files.keys()) if (path !== manifestFile) output.done(path);
  showPrepared(prepared, output);
  showDrift(drift, output);
}

function additionJson(addition: Addition) {
  const { change, prepared, unchanged, drift } = addition;
  return {
    tools: addedToolNames(addition),
    unchanged,
    files: change === null ? [] : [...change.files.keys()],
    changes: prepared.changes,
    advice: prepared.advice,
    refresh: drift,
  };
}

function requestPlaceOf({ directory, manifest }: Project): RequestPlace {
  return { directory, variables: manifest.answers.variables };
}

function addedToolNames({ prepared }: Addition): readonly string[] {
  return prepared.tools.map(({ definition }) => definition.name);
}

/** How the new tools of a project are made from the answers that flags give. */
function additionPlanning(
  initialAnswers: PartialAnswers,
  project: Project,
  { check }: AddToolSwitches,
  run: ImportRun,
  output: Output,
): AnswerPlanning<readonly ImportedTool[]> {
  const { fields } = project.manifest.answers;
  const importFromAnswers = (answers: PartialAnswers) =>
    importTools(toolAnswers(withDefaults(answers)), project.profile, run, fields);
  return {
    questionsToAsk: initialAnswers.ask,
    missingFlags: requiredQuestions(initialAnswers)
      .filter((name) => initialAnswers[name] === undefined)
      .map((name) => addToolQuestions[name].flag.syntax),
    planWithDefaults: async () => unwrap(await importFromAnswers(initialAnswers)),
    async planByAsking() {
      const { askAll } = await import('../prompts/flow.ts');
      return askAll({
        title: 'market-mcp add-tool',
        flagAnswers: initialAnswers,
        run,
        questionsBeforeTool: [],
        questionsAfterTool: [],
        tool: addToolQuestions.tool,
        async review(reviewedAnswers) {
          const importedTools = await importFromAnswers(reviewedAnswers);
          if (!importedTools.ok) return importedTools;
          const { change, prepared } = await planAddition(project, importedTools.value);
          const filesText = `${change?.files.size ?? 0} files in ${project.directory}`;
          const lines = reviewLines(filesText, prepared, reviewWidth());
          return pass({ plan: importedTools.value, lines });
        },
        resume: (answers, ask) =>
          marketCommand(
            'add-tool',
            ...flagsForAnswers<ToolQuestionAnswers>(
              addToolQuestions,
              { ...answers, ask },
              run.keylessCommands,
              true,
            ),
            ...(check ? [] : [addToolSwitches.check.syntax]),
          ),
        interrupted: (cancelled) => output.error(toCommandError(cancelled)),
        nameError: (name) => nameError(project, name),
      });
    },
  };
}
