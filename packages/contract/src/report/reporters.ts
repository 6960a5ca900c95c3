import type { CheckReport } from '../check/check-report.ts';
import { safeJson } from '../command/safe-json.ts';
import { githubReport } from './github.ts';
import { junitReport, unreachableJunit } from './junit.ts';
import { markdownReport } from './markdown.ts';
import { prettyReport } from './pretty.ts';
import type { ReportOptions } from './report-text.ts';
import { sarifReport, unreachableSarif } from './sarif.ts';

export type ReporterName = 'pretty' | 'json' | 'junit' | 'sarif' | 'github' | 'markdown';

/** The formats that also report on a target that cannot be reached. */
export const unreachableReporters: {
  readonly [name in ReporterName]?: (target: string, message: string) => string;
} = { junit: unreachableJunit, sarif: unreachableSarif };

/** The formats of a report. Pure; without a line break at the end. */
export const reporters: Readonly<
  Record<ReporterName, (report: CheckReport, options: ReportOptions) => string>
> = {
  pretty: prettyReport,
  json: safeJson,
  junit: junitReport,
  sarif: sarifReport,
  github: githubReport,
  markdown: markdownReport,
};
