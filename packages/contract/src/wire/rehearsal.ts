import { objectOr, shorten } from '../json/json.ts';
import { mismatches } from '../json/schema.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Problem, RehearsalStep } from '../model.ts';
import { sampleArguments } from '../platforms/sample-arguments.ts';
import { missingAnswerOf } from './client.ts';
import { tenths } from './clock.ts';
import { ListRejected, listingClient, orRejection } from './controls.ts';
import { NotRun, noHarmlessCall } from './not-run.ts';
import type { Probe } from './probe.ts';
import { NotSent } from './receive.ts';
import { failureMembers, incidentIn, isDeniedByStatus, resultText } from './rpc.ts';
import { listedOutputSchema } from './tool-cases.ts';
import { isUnrecorded, unrecordedFix } from './unrecorded.ts';

/** A run of the submission test. */
export interface Rehearsal {
  readonly steps: readonly Step[];
  /** The client's error about the list of tools; no tool was called then. */
  readonly rejected?: string;
  /** Duration of the whole sequence in milliseconds. */
  readonly ms: number;
}

interface Step {
  readonly tool: JsonObject;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly ms: number;
  /** The result's content; absent where the call threw. */
  readonly content?: Json;
  /** The message of the failure, if the result is one. */
  readonly failure?: string;
  /** Set if that failure is the lack of a recording. */
  readonly unrecorded?: true;
  /** The client's error about a call without a result. */
  readonly thrown?: string;
  /** Set if there was no answer at all. */
  readonly silent?: true;
}

/** What an author does about a step that fails. */
export const fixes = {
  thrown:
    'Let every tool answer the arguments of the test: default, examples[0] or enum[0], else "test", 1 or true.',
  text: 'Put JSON.stringify(structuredContent) into content[0].text. The test reads this text, in failures too.',
  failure:
    'Give each parameter a default or examples[0] with which the tool succeeds. The test sends only these.',
  schema: 'Declare an outputSchema that compiles. The test validates the text against it.',
} as const;

/**
 * The submission test. It runs once, after the calls of the other rules, because it measures time.
 *
 * @throws NotRun if no call may be made.
 */
export function rehearse(probe: Probe): Promise<Rehearsal> {
  return probe.once('rehearsal', async () => {
    await probe.callable();
    const outcomes = await probe.outcomes();
    if (outcomes.every(({ rpc }) => isDeniedByStatus(rpc.http))) throw NotRun.preventedBy('refused');
    const rehearsal = await orRejection(submissionTest(probe));
    if (rehearsal instanceof ListRejected) return { steps: [], rejected: rehearsal.message, ms: 0 };
    if (rehearsal.steps.length === 0) throw NotRun.because('withheld', noHarmlessCall);
    return rehearsal;
  });
}

/**
 * Does what the marketplace does with a submitted server, in the same order: connects the SDK's client with a token of
 * the platform's lifetime, lists the tools, builds sample arguments and calls each permitted tool in sequence (public source: app
 * contribute/actions.ts).
 *
 * @param onTool called with each tool before it is called.
 * @throws NotRun if no call may be made. @throws ListRejected
 */
export async function submissionTest(
  probe: Probe,
  onTool: (name: string) => void = () => {},
): Promise<Rehearsal> {
  const { smoke } = probe.profile;
  const tools = await probe.callable();
  const token = await probe.payment(smoke.claims);
  const startMs = probe.nowWithoutWaits();
  const session = await listingClient(probe, async () => token);
  const steps: Step[] = [];
  try {
    for (const tool of tools) {
      const { name, inputSchema } = tool;
      if (typeof name !== 'string') continue;
      const args = sampleArguments(objectOr(inputSchema), smoke);
      if (!(await probe.maySend(name, args))) continue;
      onTool(name);
      const callStartMs = probe.nowWithoutWaits();
      const answer = await session.client
        .callTool({ name, arguments: { ...args } })
        .then(({ content, structuredContent, isError }) => ({
          content: content as Json,
          ...(isError === true && { failure: shorten(structuredContent ?? content, 300) }),
          ...(isUnrecorded({ structuredContent } as JsonObject) && { unrecorded: true as const }),
        }))
        .catch((error: Error) => {
          const silence = missingAnswerOf(error);
          if (silence instanceof NotSent) throw silence;
          if (silence) return { thrown: silence.message, silent: true as const };
          return { thrown: error.message };
        });
      steps.push({
        tool,
        name,
        arguments: args,
        ms: tenths(Math.max(0, probe.nowWithoutWaits() - callStartMs)),
        ...answer,
      });
    }
  } finally {
    await session.close();
  }
  return { steps, ms: tenths(probe.nowWithoutWaits() - startMs) };
}

/** The problems that the test finds in the text of a step's result; none if there was no result. */
export function unparsedText({ tool, content, thrown }: Step): readonly Problem[] {
  if (thrown !== undefined) return [];
  const schema = listedOutputSchema(tool);
  if (!schema) {
    const actual = shorten(tool.outputSchema);
    return [{ path: 'outputSchema', expected: 'a schema that compiles', actual, fix: fixes.schema }];
  }
  const text = resultText(content) ?? '';
  const path = 'result.content[0].text';
  try {
    return mismatches(schema, JSON.parse(text), path).map((problem) => ({ fix: fixes.text, ...problem }));
  } catch {
    return [{ path, expected: 'JSON', actual: shorten(text), fix: fixes.text }];
  }
}

/** A call that ended in an exception. */
export function thrownProblems({ thrown }: Step): readonly Problem[] {
  if (thrown === undefined) return [];
  return [{ path: 'tools/call', expected: 'a result', actual: thrown, fix: fixes.thrown }];
}

/** A call that the tool answered with a failure. */
export function failedStep({ failure, unrecorded }: Step): readonly Problem[] {
  if (failure === undefined) return [];
  const fix = unrecorded ? unrecordedFix : fixes.failure;
  return [{ path: 'result.isError', expected: 'a result that is not a failure', actual: failure, fix }];
}

/** The verdict of the test on each tool, as a report shows it. */
export function verdictsOf({ steps }: Rehearsal): readonly RehearsalStep[] {
  return steps.map((step) => {
    const incident = incidentIn(step.content);
    const problems = [...thrownProblems(step), ...failedStep(step), ...unparsedText(step)].map(
      (problem): Problem => ({
        ...problem,
        ...(step.failure !== undefined && failureMembers(step.content)),
        ...(incident !== undefined && { incident }),
      }),
    );
    const { name: tool, arguments: args, ms } = step;
    return { tool, arguments: args, ms, status: problems.length > 0 ? 'fail' : 'pass', problems };
  });
}
