import type { CheckReport } from '../check/model.ts';
import { safeJson } from '../command/safe-json.ts';
import type { ReportOptions } from './format.ts';
import { githubReport } from './github.ts';
import { junitReport } from './junit.ts';
import { markdownReport } from './markdown.ts';
import { prettyReport } from './pretty.ts';
import { sarifReport } from './sarif.ts';

export type ReporterName = 'pretty' | 'json' | 'junit' | 'sarif' | 'github' | 'markdown';

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
