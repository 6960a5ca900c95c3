import type { Command } from 'commander';
import type { Run } from '../command.ts';
import type { UpgradeFlags } from '../commands/upgrade.ts';

/** `upgrade` and `doctor`, with their flags. */
export function withUpgrade(program: Command, run: Run): void {
  program
    .command('upgrade')
    .description(
      'Bring the project to the version of this program: its runtime is replaced, your edits are merged',
    )
    .option('--to <version>', 'the version to upgrade to (only the version of this program is possible)')
    .option('--dry-run', 'print what would change as a unified diff, write nothing')
    .option('--continue', 'finish an upgrade after its conflicts are resolved')
    .option('--abort', 'undo an unfinished upgrade completely')
    .option('-y, --yes', 'never ask; upgrade asks nothing in any case')
    .option('--force', 'upgrade despite uncommitted changes')
    .option('--no-install', 'do not install packages, build or check')
    .option('--no-check', 'do not build, and do not run the self-check')
    .option('--json', 'print one JSON object')
    .action((flags: UpgradeFlags) =>
      run(async (output) => (await import('../commands/upgrade.ts')).upgrade(flags, output)),
    );
  program
    .command('doctor')
    .description('Show the versions of the project, who owns which files, and what an upgrade would do')
    .option('--json', 'print one JSON object')
    .action(() => run(async (output) => (await import('../commands/doctor.ts')).doctor(output)));
}
