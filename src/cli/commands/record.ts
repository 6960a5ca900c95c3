import {
  CommandError,
  type ExitCode,
  nameList,
  type Output,
  singleLine,
  withProgress,
} from 'market-mcp-contract/command';
import { onlyReads } from 'market-mcp-contract/definition';
import { requireListed } from 'market-mcp-contract/program';
import { type Proposal, planSchemas, type RecordedTool } from '../../changes/recorded.ts';
import { buildProject } from '../../check/build-project.ts';
import {
  type CalledExample,
  callExamples,
  calledLines,
  type ProjectTool,
  projectFacts,
} from '../../check/read-built-project.ts';
import { findProject, manifestFile } from '../../project/manifest/manifest.ts';
import { openProject } from '../../project/read/open.ts';
import { readIn } from '../../project/read/resolve-inside.ts';
import { changeProject } from '../../project/write/change.ts';
import { marketCommand } from '../../system/command-line.ts';
import type { RequestChange } from '../../typescript/request-source.ts';
import { askPerson, mayAsk } from '../ask-person.ts';
import { byHand } from '../check/check-lines.ts';
import { showDiff, unifiedDiff } from '../tools/dry-run.ts';
import { showDrift } from '../tools/tool-drift.ts';

/**
 * `market-mcp record`: calls each example of the tools that only read once, for real, and records the answers of their sources.
 * Where an answer differs from the outputSchema, it proposes one that admits the answer.
 *
 * @returns 1 if an example ended otherwise than expected.
 * @throws CommandError `UNKNOWN_TOOL`.
 */
export async function record(output: Output, switches: RecordSwitches): Promise<ExitCode> {
  const { call } = switches;
  const directory = findProject(process.cwd());
  await withProgress(output.progress('building'), () => buildProject(directory));
  const { tools } = await projectFacts(directory);
  requireListed(
    call.map((tool) => ({ flag: '--call', tool })),
    tools.map(({ name }) => name),
  );
  const isCalled = (tool: ProjectTool) => onlyReads(tool) || call.includes(tool.name);
  const left = tools.filter((tool) => !isCalled(tool));
  const chosenNames = await choose(left, switches);
  const names = tools
    .filter((tool) => isCalled(tool) || chosenNames.includes(tool.name))
    .map(({ name }) => name);
  const calledExamples = await withProgress(output.progress('recording'), () =>
    callExamples(directory, names),
  );
  for (const line of calledExamples.flatMap(calledLines)) output.line(singleLine(line));
  const withheld = left.map(({ name }) => name).filter((name) => !chosenNames.includes(name));
  if (withheld.length > 0) {
    const first = withheld[0] ?? '';
    output.note(`Not called, because a call may change something: ${withheld.join(', ')}`);
    output.line(`    ${marketCommand('record', '--call', first)} calls each example of it once, for real.`);
    output.line(`    ${byHand}`);
  }
  const proposalSwitches = { ...switches, call: [...call, ...chosenNames] };
  const proposed = await proposeSchemas(directory, tools, calledExamples, proposalSwitches, output);
  for (const line of (proposed?.called ?? []).flatMap(calledLines)) output.line(singleLine(line));
  const isAgain = ({ tool }: CalledExample) =>
    proposed?.called.some((example) => example.tool === tool) === true;
  const finalExamples = [
    ...calledExamples.filter((example) => !isAgain(example)),
    ...(proposed?.called ?? []),
  ].map(({ answers: _, ...example }) => example);
  const ok = finalExamples.every(({ expect, outcome }) => expect === outcome);
  const { called: _, ...schemas } = proposed ?? { called: [] };
  return output.result({ ok, called: finalExamples, withheld, ...(proposed && { schemas }) });
}

/** The tools that a person at a terminal allows; none elsewhere. */
async function choose(tools: readonly ProjectTool[], switches: RecordSwitches): Promise<readonly string[]> {
  if (tools.length === 0 || !mayAsk(switches)) return [];
  const question =
    'Call any of these tools, too? A call may change something. (Space selects, Enter continues)';
  const choices = tools.map(({ name, examples = [] }) => ({
    value: name,
    label: name,
    hint: singleLine(`once with ${examples.map((example) => JSON.stringify(example.arguments)).join(', ')}`),
  }));
  return askPerson((asker) => asker.chooseAny(question, choices));
}

export interface RecordSwitches {
  readonly call: readonly string[];
  readonly yes: boolean;
  readonly json: boolean;
}

/** What became of the schemas that recorded answers change. */
export interface Applied {
  readonly applied: boolean;
  /** The tools whose schema differs from their answers. */
  readonly tools: readonly string[];
  /** Of the files of the tools; empty if no file can be changed. */
  readonly diff: string;
  readonly byHand: Proposal['byHand'];
  readonly refresh: Proposal['drift'];
  /** The examples that were called again with the new schemas. */
  readonly called: readonly CalledExample[];
}

/**
 * Proposes the outputSchemas that admit the answers of the called examples, and applies them if the author agrees. Then the
 * examples of tools that only read are called again if they failed.
 *
 * @returns null if the answers match the schemas
 * @throws CommandError `BUILD_FAILED` if the project does not compile with the schemas: they were taken back
 */
export async function proposeSchemas(
  directory: string,
  tools: readonly ProjectTool[],
  examples: readonly CalledExample[],
  switches: RecordSwitches,
  output: Output,
): Promise<Applied | null> {
  const recorded = answersByTool(tools, examples);
  if (recorded.size === 0) return null;
  const plan = async () => planSchemas(await openProject(directory), recorded);
  const planned = await plan();
  const names = [...planned.tools, ...planned.byHand.map(({ tool }) => tool)];
  if (names.length === 0) return null;
  for (const { tool, path, schema, request } of planned.byHand) {
    output.note(
      `The answers of ${tool} do not match its outputSchema, which is not a literal in ${path}. This one admits them:`,
    );
    for (const line of JSON.stringify(schema, null, 2).split('\n')) output.line(`    ${line}`);
    if (request) output.line(`    In its request: ${shownRequest(request)}`);
  }
  const result = { tools: names, diff: '', byHand: planned.byHand, refresh: planned.drift, called: [] };
  if (planned.change === null) return { ...result, applied: false };
  const diff = unifiedDiff(directory, withoutManifest(planned.change));
  output.note(
    `The answers of ${nameList(planned.tools)} differ from what the tool expects. This admits them:`,
  );
  showDiff(diff, output);
  if (!(await mayApply(switches))) {
    const calls = switches.call.flatMap((tool) => ['--call', tool]);
    output.line(`    To apply: ${marketCommand('record', '--yes', ...calls)}`);
    return { ...result, diff, applied: false };
  }
  await apply(directory, plan, output);
  output.done(`Changed to admit the answers: ${nameList(planned.tools)}`);
  showDrift(planned.drift, output);
  const failed = tools.filter(
    (tool) =>
      planned.tools.includes(tool.name) &&
      examples.some((example) => example.tool === tool.name && example.outcome !== example.expect),
  );
  const retryNames = failed.filter(onlyReads).map(({ name }) => name);
  for (const { name } of failed.filter((tool) => !retryNames.includes(tool.name))) {
    output.note(`${name} may change something, so it was not called again: its answer is not recorded yet`);
  }
  const repeatedCalls =
    retryNames.length === 0
      ? []
      : await withProgress(output.progress('recording'), () => callExamples(directory, retryNames));
  return { ...result, diff, applied: true, called: repeatedCalls };
}

/** The answers of sources of the examples that shall find something, by tool. */
function answersByTool(
  tools: readonly ProjectTool[],
  examples: readonly CalledExample[],
): ReadonlyMap<string, RecordedTool> {
  return new Map(
    tools.flatMap(({ name, inputSchema = {}, outputSchema }) => {
      const foundExamples = examples.filter(({ tool, expect }) => tool === name && expect === 'found');
      const answers = foundExamples.flatMap((example) => example.answers ?? []);
      if (outputSchema && answers.length > 0) return [[name, { inputSchema, outputSchema, answers }]];
      return [];
    }),
  );
}

function shownRequest({ wrap, pages, success }: RequestChange): string {
  const options: string[] = [];
  if (wrap === null) options.push('without wrap');
  else if (wrap !== undefined) options.push(`wrap: '${wrap}'`);
  if (pages) options.push('pages: { input, inputSchema }');
  if (success) options.push(`success: ${JSON.stringify(success)}`);
  return options.join(', ');
}

function withoutManifest({ files, removed }: NonNullable<Proposal['change']>) {
  return { files: new Map([...files].filter(([path]) => path !== manifestFile)), removed };
}

async function mayApply(switches: RecordSwitches): Promise<boolean> {
  if (switches.yes) return true;
  if (!mayAsk(switches)) return false;
  return askPerson((asker) => asker.confirm('Change these schemas?', false));
}

/** Changes the files and builds the project; if that fails, the files are as before. */
async function apply(directory: string, plan: () => Promise<Proposal>, output: Output): Promise<void> {
  const before = new Map<string, { content: Uint8Array; owner: 'yours' }>();
  await changeProject(directory, async () => {
    const planned = await plan();
    for (const path of planned.change?.files.keys() ?? [])
      before.set(path, { content: readIn(directory, path), owner: 'yours' });
    return planned;
  });
  try {
    await withProgress(output.progress('building'), () => buildProject(directory));
  } catch (error) {
    await changeProject(directory, async () => ({ change: { files: before, removed: [] } }));
    if (!(error instanceof CommandError)) throw error;
    const { code, details } = error;
    const hint =
      'The files are as before. Let the code of the tool accept the new types, and run the command again.';
    throw new CommandError(code, 'the project does not compile with the proposed schemas', hint, { details });
  }
}
