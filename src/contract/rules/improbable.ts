import { mapConcurrently } from '../concurrency.ts';
import { isObject, present, withoutPrototype } from '../json.ts';
import type { Json, Problem } from '../model.ts';
import { answeredCalls } from '../probe/controls.ts';
import type { CallOutcome } from '../probe/probe.ts';
import { describeCall } from '../probe/rpc.ts';
import { NotRun } from '../report/not-run.ts';
import { propertiesOf } from '../schema/keywords.ts';
import { mismatches, withoutDialect } from '../schema/schema.ts';
import { isEmpty, ofCall } from './result.ts';
import { judgeEach, type LiveRule, should } from './rule.ts';

/** A text that no source contains. */
const unheardOf = 'zq7-unheard-of-4kx';

/** The answer of a tool that finds nothing, tried without knowing its data. */
export const improbableRules: readonly LiveRule[] = [
  {
    ...should('outcome.empty-signal', 'C§2.2, C§7'),
    title: 'a call that finds nothing returns the signal of an empty result',
    fix: 'Return searchExhausted: true or noResultsReason when nothing is found. Otherwise the platform asks again.',
    check: async (probe) => {
      const succeeded = (await answeredCalls(probe)).filter(
        ({ name, result, wrong }) =>
          result !== undefined && result.isError !== true && !wrong && !probe.target.writing?.has(name),
      );
      if (succeeded.length === 0) throw NotRun.by('noSuccess');
      const byTool = new Map(succeeded.map((outcome) => [outcome.tool, outcome]));
      const answers = await mapConcurrently([...byTool.values()].flatMap(improbable), 4, async (call) => {
        const rpc = await probe.call(call.name, call.arguments);
        const data = rpc.result?.structuredContent;
        if (rpc.result?.isError === true || !isObject(data)) return [];
        if (!holdsNothing(present<Json>({ ...data, searchExhausted: undefined, noResultsReason: undefined })))
          return [];
        if (isEmpty(data)) return [[]];
        const expected = 'searchExhausted: true or noResultsReason';
        return [[ofCall(call, { expected, actual: describeCall(rpc) })]];
      });
      return judgeEach<readonly Problem[]>(
        answers.flat(),
        NotRun.because('inapplicable', 'every call with improbable texts found something'),
        (problems) => problems,
      );
    },
  },
];

/** The call with every free text replaced by one for which nothing is found. */
function improbable({
  tool,
  name,
  arguments: args,
}: CallOutcome): readonly Pick<CallOutcome, 'name' | 'arguments'>[] {
  const schema = isObject(tool.inputSchema) ? withoutDialect(tool.inputSchema) : {};
  const texts = propertiesOf(schema).filter(
    ([, { type, enum: allowed, format }]) =>
      type === 'string' && allowed === undefined && format === undefined,
  );
  const changed = withoutPrototype({
    ...args,
    ...Object.fromEntries(texts.map(([property]) => [property, unheardOf])),
  });
  return texts.length > 0 && mismatches(schema, changed, '').length === 0
    ? [{ name, arguments: changed }]
    : [];
}

/** Whether a value consists only of nulls, empty lists, zeros, empty texts and the searched text. */
function holdsNothing(value: Json): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(holdsNothing);
  return value === null || value === 0 || value === '' || value === unheardOf;
}
