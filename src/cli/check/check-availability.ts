import {
  type ExitCode,
  exitCodes,
  flagName,
  type InputError,
  inputError,
  type Output,
  printable,
  requireNone,
  unwrap,
} from 'market-mcp-contract/command';
import { generic, resolvePlatform } from 'market-mcp-contract/platforms';
import { targetAtUrl } from 'market-mcp-contract/program';
import { driftLines, lookAtServer } from 'market-mcp-contract/report';
import { listingAt, previousListing } from '../../check/previous-listing.ts';
import { projectAbove, readManifest } from '../../project/manifest/manifest.ts';
import { presentProfile } from '../../project/manifest/project-profile.ts';
import { type CheckFlags, checkFlags } from '../command-flags.ts';

const marks = { pass: ['green', '✓'], fail: ['red', '✗'], 'not-run': ['dim', '–'] } as const;

/**
 * Looks once at a server in use, as the marketplace does every day. Runs no tool.
 *
 * @returns 1 if something must be done, 3 if the server does not answer
 * @throws CommandError `INVALID_INPUT`, `NOT_READABLE`
 */
export async function checkAvailability(url: string, output: Output, flags: CheckFlags): Promise<ExitCode> {
  requireNone(otherFlagErrors(flags));
  const project = projectAbove(process.cwd());
  const profile = await profileFor(flags.platform, project);
  const target = { ...(await targetAtUrl(url, { header: flags.header })), profile };
  const report = await lookAtServer(target, await earlierListing(flags.against, project));
  output.line(
    output.style('bold', `Availability of ${printable(report.target)} (platform ${printable(profile.name)})`),
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

const supportedFlags: readonly string[] = ['availability', 'against', 'platform', 'header', 'json'];

function otherFlagErrors(flags: CheckFlags): readonly InputError[] {
  const values: Readonly<Record<string, unknown>> = flags;
  return Object.entries(checkFlags)
    .filter(([name]) => !supportedFlags.includes(name))
    .filter(([name, flag]) => !isDefault(values[name], flag.initial))
    .map(([, flag]) =>
      inputError(flagName(flag), undefined, 'cannot be combined with --availability', 'Remove one of them.'),
    );
}

function isDefault(value: unknown, initial: unknown): boolean {
  return value === initial || (Array.isArray(value) && value.length === 0);
}

/** The profile that a flag names, else the profile of the project, else `generic`. */
async function profileFor(platform: string | undefined, project: string | undefined) {
  if (platform !== undefined) return unwrap(await resolvePlatform(platform));
  if (project === undefined) return generic;
  return presentProfile(readManifest(project));
}

async function earlierListing(file: string | undefined, project: string | undefined) {
  if (file !== undefined) return listingAt(file);
  if (project === undefined) return undefined;
  return previousListing(project);
}
