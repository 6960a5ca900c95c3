import type { Problem, Report } from 'market-mcp-contract/definition';
import type { OtherError } from 'market-mcp-contract/report';
import { causeOf } from './causes.ts';
import type { Incident } from './logged.ts';

/** The known code of the checked server. */
export interface ProjectCode {
  readonly directory: string;
  /** Name of a tool → the file that defines it, `src/tools/get-price.ts`. */
  readonly sources: ReadonlyMap<string, string>;
  /** The errors in its code that the server has logged so far. */
  incidents(): readonly Incident[];
}

/** The maximum number of errors that are reported in addition to the rules. */
const shownErrors = 10;

/**
 * Adds to each problem its cause, as the server logged it, and the place to change. Adds
 * the other errors, which belong to no problem.
 */
export function located<R extends Pick<Report, 'rules' | 'rehearsal'>>(
  report: R,
  { directory, sources, incidents: logged }: ProjectCode,
): R & { readonly serverErrors: readonly OtherError[] } {
  const incidents = logged();
  const byId = new Map(incidents.map((incident) => [incident.id, incident]));
  const printed = new Map(incidents.filter(({ id }) => id === undefined).map((one) => [one.tool, one]));
  const reported = new Set<string>();
  const withCause = (problem: Problem, of?: string): Problem => {
    const { tool = of ?? '', incident: id, failed } = problem;
    const incident = id === undefined ? failed && printed.get(tool) : byId.get(id);
    const cause = problem.cause ?? (incident && causeOf(incident.detail, directory));
    if (cause) reported.add(keyOf(cause.message));
    const at = problem.at ?? cause?.at ?? sources.get(tool);
    const fix =
      incident && cause?.at && `Correct the code at ${cause.at}: the call failed with the error above.`;
    return { ...problem, ...(cause && { cause }), ...(at !== undefined && { at }), ...(fix && { fix }) };
  };
  const rules = report.rules.map((rule) => ({
    ...rule,
    problems: rule.problems.map((problem) => withCause(problem)),
  }));
  const rehearsal = report.rehearsal?.map((step) => ({
    ...step,
    problems: step.problems.map((problem) => withCause(problem, step.tool)),
  }));
  return {
    ...report,
    rules,
    ...(rehearsal && { rehearsal }),
    serverErrors: otherErrors(incidents, directory).filter(({ message }) => !reported.has(keyOf(message))),
  };
}

function otherErrors(incidents: readonly Incident[], directory: string): readonly OtherError[] {
  const serverErrors = new Map<string, OtherError>();
  for (const { tool, detail } of incidents) {
    const cause = causeOf(detail, directory);
    const key = `${tool} ${keyOf(cause.message)}`;
    const times = (serverErrors.get(key)?.times ?? 0) + 1;
    serverErrors.set(key, {
      ...(serverErrors.get(key) ?? { ...cause, ...(tool !== undefined && { tool }) }),
      times,
    });
  }
  return [...serverErrors.values()].slice(0, shownErrors);
}

/** Errors that differ only in values count as one. */
function keyOf(message: string): string {
  return message.replaceAll(/"[^"]*"|'[^']*'|\d+/g, '…');
}
