import { Command } from 'commander';
import { withFlags } from '../command/commander.ts';
import { on, textOption } from '../command/flag-table.ts';
import { runMain } from '../command/run-main.ts';
import { shellLine } from '../command/shell.ts';
import type { Output } from '../command/terminal-output.ts';
import { mcp } from '../platforms/mcp.ts';
import { version } from '../version.ts';
import { rerunCommand } from './options.ts';
import { type UrlFlags, urlFlags } from './url-flags.ts';

const program = 'market-mcp-contract';
const flags = {
  ...urlFlags,
  platform: textOption(
    '--platform <name|file>',
    `the platform profile to check against (default: ${mcp.name}, which is no marketplace)`,
  ),
};
const byDefault = `Judged by ${mcp.title}: --platform ${mcp.name}. A marketplace asks for more: --platform context, or generic.`;
const marketMcpOnly =
  'Only market-mcp has --availability, which runs no tool: market-mcp check <url> --availability';
/** A line to paste, wherever the package is installed. */
const line = (...args: readonly string[]) => shellLine(['npx', program, ...args]);

/** Runs `market-mcp-contract`: arguments in, exit code out. */
export function main(args: readonly string[]): Promise<void> {
  return runMain(
    {
      build(run, args) {
        const tree = new Command(program)
          .version(version, '-V, --version', 'show the version')
          .helpOption('-h, --help', 'show this help')
          .description(
            'Check the MCP server at a URL against the protocol, or the contract of a tool marketplace.',
          )
          .argument('<url>', 'address of the MCP endpoint, such as https://tools.example.com/mcp')
          .addHelpText(
            'after',
            `\nExample:\n  ${line('https://tools.example.com/mcp', '--platform', 'context')}\n\n${marketMcpOnly}`,
          )
          .exitOverride()
          .configureOutput({ writeErr: () => {}, outputError: () => {} });
        withFlags(tree, flags, run, async () => {
          const { checkUrl } = await import('./check.ts');
          return (url: string, output: Output, flags: UrlFlags) => {
            if (flags.platform === undefined) output.comment([byDefault]);
            return checkUrl(
              url,
              output,
              { ...flags, platform: flags.platform ?? mcp.name },
              {
                explainCommand: (rule) => line('explain', rule),
                rerunCommand: (rules) => rerunCommand(line, url, flags, rules),
              },
            );
          };
        });
        const explain = withFlags(
          tree.command('explain'),
          { json: on('--json', 'print as JSON') },
          run,
          async () => (await import('./explain.ts')).explain,
        )
          .description('Explain a rule, with an example that fails and one that passes')
          .argument('[rule]', 'id of a rule (gate.no-token) or of a group of rules (gate)');
        explain.helpOption('-h, --help', 'show this help');
        return { tree, args: args.length === 0 ? ['--help'] : args };
      },
    },
    args,
  );
}
