import { type Command, Option } from 'commander';
import { deliberateErrors } from '../../marketplace/core/unhappy.ts';
import type { Run } from '../command.ts';
import type { CallFlags, ListingFlags, MarketplaceFlags, PlaceFlags, RegisterFlags } from './flag-types.ts';

/** `marketplace`, `register`, `refresh`, `dispute` and `call`, with their flags. */
export function withMarketplace(program: Command, run: Run): void {
  placed(program.command('marketplace'))
    .description('Run the marketplace on this machine: a page to try, check and register the server')
    .option('--port <port>', 'port of the page (default: 4400, or the next free port)')
    .option('--exec <command>', 'also run this command, and exit with its exit code')
    .option('--reset', 'first delete all listings, disputes and saved examples')
    .option('--json', 'print the addresses as JSON')
    .action((flags: MarketplaceFlags) =>
      run(async (output) => (await import('../commands/marketplace.ts')).marketplace(flags, output)),
    );
  placed(program.command('register'))
    .description('Submit the server to the local marketplace, as its registration form does')
    .option('--name <text>', 'display name (default: the name of the project)')
    .option(
      '--description <text>',
      'what the tools offer (default: derived from the descriptions of the tools)',
    )
    .option('--category <name>', 'one of the categories of the marketplace (default: Other)')
    .option('--price <usd>', 'price of a call in US dollars (default: 0.01)')
    .option('--json', 'print one JSON object')
    .action((flags: RegisterFlags) =>
      run(async (output) => (await import('../commands/register.ts')).register(flags, output)),
    );
  program
    .command('listing')
    .description(
      "Write server.json of the official MCP registry, and print the fields of the marketplace's registration form",
    )
    .option('--endpoint <url>', 'public URL of the server (default: PLATFORM_AUDIENCE)')
    .option('--platform <name|file>', 'the platform profile (default: that of the project)')
    .option('--name <text>', 'display name (default: the name of the project)')
    .option(
      '--summary <text>',
      'up to 100 characters for the registry (default: description in package.json)',
    )
    .option(
      '--description <text>',
      'what the tools offer (default: derived from the descriptions of the tools)',
    )
    .option('--category <name>', 'one of the categories of the marketplace')
    .option('--price <usd>', 'price of a call in US dollars (default: 0.01)')
    .option('--registry-name <name>', 'name in the registry: io.github.<account>/<server> (default: derived)')
    .option('--repository <url>', 'the source code (default: repository in package.json)')
    .option('--website <url>', 'the home page (default: homepage in package.json)')
    .option('--out <file>', 'the file to write (default: server.json in the project)')
    .option('--dry-run', 'print both, write nothing')
    .option('--force', 'replace a file that differs')
    .option('--json', 'print one JSON object')
    .action((flags: ListingFlags) =>
      run(async (output) => (await import('../commands/listing.ts')).listing(flags, output)),
    );
  placed(program.command('refresh'))
    .argument('[listing]', 'name or endpoint of a listing (default: the only one)')
    .description(
      'Trigger "Refresh Skills": the local marketplace reads the tools again and shows what has changed',
    )
    .option('--json', 'print one JSON object')
    .action((listing: string | undefined, flags: PlaceFlags) =>
      run(async (output) => (await import('../commands/refresh.ts')).refresh(listing, flags, output)),
    );
  placed(program.command('dispute'))
    .argument('<call>', 'number of a call, as market-mcp call prints it')
    .description('Dispute a call as schema_mismatch; it is judged by the schema stored at the last refresh')
    .option('--json', 'print one JSON object')
    .action((call: string, flags: PlaceFlags) =>
      run(async (output) => (await import('../commands/dispute.ts')).dispute(call, flags, output)),
    );
  placed(program.command('call'))
    .argument('<tool>', 'name of the tool')
    .argument('[arguments]', 'its arguments as JSON (default: those of the submission test)')
    .description('Call a tool as the platform does, and validate its result')
    .addOption(
      new Option('--as <caller>', 'make an invalid or unusual call').choices(Object.keys(deliberateErrors)),
    )
    .addOption(
      new Option('--expect <outcome>', 'the only outcome to accept (default: found and empty)').choices([
        'found',
        'empty',
        'fail',
      ]),
    )
    .option('--json', 'print one JSON object')
    .action((tool: string, args: string | undefined, flags: CallFlags) =>
      run(async (output) => (await import('../commands/call.ts')).call(tool, args, flags, output)),
    );
}

function placed(command: Command): Command {
  return command
    .option('--endpoint <url>', 'URL of the server (default: the server of the project, which is started)')
    .option('--platform <name|file>', 'the platform profile (default: that of the project)');
}
