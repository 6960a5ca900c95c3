import type { CheckReport } from '../model.ts';
import { githubReport } from './github.ts';
import { safeJson } from './json.ts';
import { junitReport } from './junit.ts';
import { markdownReport } from './markdown.ts';
import { type PrettyOptions, prettyReport } from './pretty.ts';
import { sarifReport } from './sarif.ts';

export type ReporterName = 'pretty' | 'json' | 'junit' | 'sarif' | 'github' | 'markdown';

/** The formats of a report. Pure; without a line break at the end. */
export const reporters: Readonly<
  Record<ReporterName, (report: CheckReport, options: PrettyOptions) => string>
> = {
  pretty: prettyReport,
  json: safeJson,
  junit: junitReport,
  sarif: sarifReport,
  github: githubReport,
  markdown: markdownReport,
};
