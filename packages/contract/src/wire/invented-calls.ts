import { randomUUID } from 'node:crypto';
import { onlyReads } from '../definition/effect.ts';
import { propertiesOf } from '../json/keywords.ts';
import { callsAtOnce, mapConcurrently } from './concurrency.ts';
import { answeredCalls } from './controls.ts';
import { Explorer, exploreTools, maxExploredTools } from './explored-calls.ts';
import { NotRun, onlyWriting } from './not-run.ts';
import type { CallOutcome, Probe } from './probe.ts';
import { silentAnswerOrThrow } from './rpc.ts';
import { allowsArguments, inputSchemaOf } from './tool-cases.ts';

/** A call in which each free text is an invented one, which no source contains. */
export interface InventedCall extends CallOutcome {
  /** The invented text. */
  readonly text: string;
  /** The beginning of the text, which no other call has: lower-case letters, digits and a hyphen. */
  readonly marker: string;
  readonly isInSecondSession: boolean;
}

/** A call with invented texts of each tool that succeeds and only reads, made once for a probe. @throws NotRun */
export function inventedCalls(probe: Probe): Promise<readonly InventedCall[]> {
  return probe.once('invented calls', async () => {
    const answered = await answeredCalls(probe);
    const succeeded = answered.filter(
      ({ result, isInvalid }) => result && result.isError !== true && !isInvalid,
    );
    if (succeeded.length === 0) throw NotRun.preventedBy('noSuccess');
    const reading = succeeded.filter(({ name }) => !probe.target.writing?.has(name));
    if (reading.length === 0) throw NotRun.because('inapplicable', onlyWriting);
    const byTool = new Map(reading.map((outcome) => [outcome.tool, outcome]));
    const calls = [...byTool.values()].flatMap((outcome) => inventTexts(outcome));
    return mapConcurrently(calls, callsAtOnce, async (call) => {
      const rpc = await probe.call(call.name, call.arguments).catch(silentAnswerOrThrow);
      return { ...call, rpc, result: rpc.result, isInSecondSession: false };
    });
  });
}

/**
 * The same calls with other texts, which have an accent, in another session if the server has sessions. None of live tools.
 *
 * @throws NotRun
 */
export function furtherInventedCalls(probe: Probe): Promise<readonly InventedCall[]> {
  return probe.once('further invented calls', async () => {
    await exploreTools(probe); // throws if no calls may be generated
    const explorer = await Explorer.of(probe);
    if (explorer.isLive) return [];
    const firstCalls = await inventedCalls(probe);
    const session = await secondSession(probe);
    const calls = firstCalls
      .slice(0, maxExploredTools)
      .filter(({ tool, name }) => onlyReads(tool) && explorer.mayCall(name))
      .flatMap((call) => inventTexts(call, 'é'));
    return mapConcurrently(calls, callsAtOnce, async (call) => {
      const rpc = await explorer.send(call.name, call.arguments, { session });
      return { ...call, rpc, result: rpc.result, isInSecondSession: session !== undefined };
    });
  });
}

/** Another session than the shared one, if the server has sessions. */
export function secondSession(probe: Probe): Promise<string | undefined> {
  return probe.once('second session', () =>
    probe.newSession().catch((error: unknown) => {
      if (error instanceof NotRun) return undefined;
      throw error;
    }),
  );
}

/** The call with every free text replaced by an invented one; none if the tool takes no such text. */
function inventTexts(
  { tool, name, arguments: args }: CallOutcome,
  accent?: string,
): readonly Pick<InventedCall, 'tool' | 'name' | 'arguments' | 'text' | 'marker'>[] {
  const schema = inputSchemaOf(tool);
  const parameters = propertiesOf(schema).filter(
    ([, { type, enum: allowedValues, format }]) =>
      type === 'string' && allowedValues === undefined && format === undefined,
  );
  if (parameters.length === 0) return [];
  const marker = `zq7-${randomUUID().slice(0, 8)}`;
  for (const text of accent === undefined ? [marker] : [`${marker} ${accent}`, marker]) {
    const changed = { ...args, ...Object.fromEntries(parameters.map(([parameter]) => [parameter, text])) };
    if (allowsArguments(schema, changed)) return [{ tool, name, arguments: changed, text, marker }];
  }
  return [];
}
