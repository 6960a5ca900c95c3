import type { Json, JsonObject, Problem } from '../model.ts';
import { outputSchemaOf } from '../probe/cases.ts';
import { patienceMs } from '../probe/patience.ts';
import type { Probe } from '../probe/probe.ts';
import { type LiveRule, NotRun, unless } from '../rule.ts';
import { isObject, misfits, shorten } from '../schema.ts';
import { sampleArguments } from '../smoke.ts';
import { ofCall, textOf } from './result.ts';

const source = 'app contribute/actions.ts';

/** The marketplace's submission test, replayed: the SDK's client, one token, every tool in order. */
export const submissionRules: readonly LiveRule[] = [
  {
    id: 'submission.calls',
    level: 'must',
    title: 'the submission test calls every tool without an exception',
    source,
    fact: true,
    mend: 'Let every tool answer its sample arguments: default, examples[0], enum[0], else "test", 1 or true.',
    check: async (probe) =>
      (await replay(probe)).steps.flatMap(({ thrown, call }) => (thrown ? [ofCall(call, thrown)] : [])),
  },
  {
    id: 'submission.text',
    level: 'must',
    title: 'the text of every result in the submission test is JSON that fits the outputSchema',
    source,
    fact: true,
    mend: 'Put JSON.stringify(structuredContent) into content[0].text: the test reads the text, in a failure too.',
    check: async (probe) =>
      (await replay(probe)).steps.flatMap(({ call, tool, content, thrown }) =>
        thrown ? [] : textProblems(tool, textOf(content)).map((problem) => ofCall(call, problem)),
      ),
  },
  {
    id: 'submission.in-time',
    level: 'must',
    title: 'the submission test ends before its token does',
    source,
    fact: true,
    mend: 'Make the tools faster: one token of limited life serves the whole sequence.',
    check: async (probe) => {
      const { submissionMs } = probe.profile.limits;
      if (submissionMs === null) throw new NotRun('the platform sets no limit');
      const { ms } = await replay(probe);
      return unless(ms <= submissionMs, {
        expected: `at most ${submissionMs} ms for all tools`,
        actual: `${Math.round(ms)} ms`,
      });
    },
  },
];

interface Step {
  readonly tool: JsonObject;
  readonly call: { readonly name: string; readonly arguments: JsonObject };
  readonly content?: Json;
  readonly thrown?: Problem;
}

interface Replay {
  readonly steps: readonly Step[];
  readonly ms: number;
}

function replay(probe: Probe): Promise<Replay> {
  return probe.once('submission', async () => {
    const { smoke, limits } = probe.profile;
    const tools = await probe.tools();
    await probe.outcomes();
    const token = await probe.token({ claims: smoke.claims });
    const started = performance.now();
    const session = await probe.client(async () => token);
    const steps: Step[] = [];
    try {
      await session.client.listTools().catch(() => {
        throw new NotRun('the client cannot list the tools (discovery.client)');
      });
      for (const tool of tools) {
        if (typeof tool.name !== 'string') continue;
        const call = {
          name: tool.name,
          arguments: sampleArguments(isObject(tool.inputSchema) ? tool.inputSchema : {}, smoke),
        };
        const answer = await session.client
          .callTool({ ...call }, undefined, { timeout: limits.callMs + patienceMs })
          .catch((error: Error) => error);
        steps.push(
          answer instanceof Error
            ? { tool, call, thrown: { path: 'tools/call', expected: 'a result', actual: answer.message } }
            : { tool, call, content: answer.content as Json },
        );
      }
    } finally {
      await session.close();
    }
    return { steps, ms: performance.now() - started };
  });
}

function textProblems(tool: JsonObject, text: string | undefined): readonly Problem[] {
  const schema = outputSchemaOf(tool);
  if (!schema) throw new NotRun('an outputSchema does not compile (output.compiles)');
  const path = 'result.content[0].text';
  try {
    return misfits(schema, JSON.parse(text ?? ''), path);
  } catch {
    return [{ path, expected: 'JSON', actual: shorten(text) }];
  }
}
