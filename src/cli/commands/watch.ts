import { type ExitCode, exitCodes, type Output, printable, type Values } from 'market-mcp-contract/command';
import { serverAt } from 'market-mcp-contract/program';
import { driftLines, watchServer } from 'market-mcp-contract/report';
import { listingAt, previousListing } from '../../check/files.ts';
import { placeOf } from '../../marketplace/place.ts';
import type { watchFlags } from '../flags.ts';

const marks = { pass: ['green', '✓'], fail: ['red', '✗'], 'not-run': ['dim', '–'] } as const;

/**
 * `market-mcp watch <url>`: looks once at a server in use, as the marketplace does every day. Runs no tool.
 *
 * @returns 1 if something must be done, 3 if the server does not answer
 * @throws CommandError `INVALID_INPUT`, `NOT_READABLE`
 */
export async function watch(
  url: string,
  output: Output,
  flags: Values<typeof watchFlags>,
): Promise<ExitCode> {
  const { project, profile } = await placeOf({ platform: flags.platform, endpoint: url });
  const target = { ...(await serverAt(url, { header: flags.header })), profile };
  const earlier =
    flags.against === undefined
      ? project && previousListing(project.directory)
      : await listingAt(flags.against);
  const report = await watchServer(target, earlier);
  output.line(
    output.style('bold', `Watch of ${printable(report.target)} (platform ${printable(profile.name)})`),
  );
  for (const { title, status, says, fix } of report.looks) {
    const [colour, mark] = marks[status];
    output.line(`${output.style(colour, mark)} ${title}: ${printable(says)}`);
    if (fix !== undefined) output.line(`    fix  ${printable(fix)}`);
  }
  if (report.drift?.refreshNeeded) output.line(driftLines(report.drift, output.paint).join('\n'));
  const exitCode = output.result(report);
  return report.answered ? exitCode : exitCodes.notStarted;
}
