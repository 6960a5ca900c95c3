import { type ExitCode, type Output, singleLine, withProgress } from 'market-mcp-contract/command';
import { onlyReads } from 'market-mcp-contract/definition';
import { requireListed } from 'market-mcp-contract/program';
import {
  type CalledExample,
  callExamples,
  calledLine,
  type ProjectTool,
  projectFacts,
} from '../../check/built.ts';
import { build } from '../../check/self-check.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import { marketCommand } from '../../system/command-line.ts';
import { mayAsk } from '../answers.ts';
import { byHand } from '../check/format.ts';
import { proposeSchemas, type RecordSwitches } from '../tools/recorded.ts';

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
  await withProgress(output.progress('building'), () => build(directory));
  const { tools } = await projectFacts(directory);
  requireListed(
    call.map((tool) => ({ flag: '--call', tool })),
    tools.map(({ name }) => name),
  );
  const isCalled = (tool: ProjectTool) => onlyReads(tool) || call.includes(tool.name);
  const left = tools.filter((tool) => !isCalled(tool));
  const chosen = await choose(left, switches);
  const names = tools.filter((tool) => isCalled(tool) || chosen.includes(tool.name)).map(({ name }) => name);
  const called = await withProgress(output.progress('recording'), () => callExamples(directory, names));
  for (const one of called) output.line(singleLine(calledLine(one)));
  const withheld = left.map(({ name }) => name).filter((name) => !chosen.includes(name));
  if (withheld.length > 0) {
    const first = withheld[0] ?? '';
    output.note(`Not called, because a call may change something: ${withheld.join(', ')}`);
    output.line(`    ${marketCommand('record', '--call', first)} calls each example of it once, for real.`);
    output.line(`    ${byHand}`);
  }
  const given = { ...switches, call: [...call, ...chosen] };
  const proposed = await proposeSchemas(directory, tools, called, given, output);
  for (const one of proposed?.called ?? []) output.line(singleLine(calledLine(one)));
  const isAgain = ({ tool }: CalledExample) => proposed?.called.some((one) => one.tool === tool) === true;
  const ended = [...called.filter((one) => !isAgain(one)), ...(proposed?.called ?? [])].map(
    ({ answers: _, ...one }) => one,
  );
  const ok = ended.every(({ expect, outcome }) => expect === outcome);
  const { called: _, ...schemas } = proposed ?? { called: [] };
  return output.result({ ok, called: ended, withheld, ...(proposed && { schemas }) });
}

/** The tools that a person at a terminal allows; none elsewhere. */
async function choose(tools: readonly ProjectTool[], switches: RecordSwitches): Promise<readonly string[]> {
  if (tools.length === 0 || !mayAsk(switches)) return [];
  const { Asker } = await import('../prompts/asker.ts');
  return new Asker().chooseAny(
    'Call any of these tools, too? A call may change something. (Space selects, Enter continues)',
    tools.map(({ name, examples = [] }) => ({
      value: name,
      label: name,
      hint: singleLine(`once with ${examples.map((one) => JSON.stringify(one.arguments)).join(', ')}`),
    })),
  );
}
