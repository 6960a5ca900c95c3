import { type ExitCode, exitCodes, numberIn, type Output, portIn } from 'market-mcp-contract/command';
import { develop, type OutputChunk } from '../../dev/develop.ts';
import { handOverInspector } from '../../dev/inspector.ts';
import { localServer } from '../../dev/local-server.ts';
import { publisherOf } from '../../dev/published.ts';
import { linkOf } from '../../marketplace/core/access.ts';
import type { Marketplace } from '../../marketplace/core/marketplace.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import { openProject } from '../../project/read/open.ts';
import { createCallLog } from '../marketplace/call-log.ts';

/** The flags of `market-mcp dev` as given. */
export interface DevFlags {
  /** False if `--no-marketplace` was given. */
  readonly marketplace: boolean;
  readonly port?: string;
  readonly inspect?: string | true;
  readonly rawLog?: true;
}

/** `market-mcp dev`: builds and starts the server of the project after each change, beside a local marketplace. */
export async function dev(output: Output, flags: DevFlags): Promise<ExitCode> {
  const asked = inspectArguments(flags.inspect);
  const taken = await handOverInspector();
  const nodeArguments =
    asked.length > 0 || !taken ? asked : [`--${taken.option}=${taken.host}:${taken.port}`];
  if (asked.length === 0 && taken) {
    output.note(`NODE_OPTIONS requests a debugger: attach it to the server at ${taken.host}:${taken.port}`);
  }
  const port = portIn(flags.port);
  const directory = findProject(process.cwd());
  const say = (text: string) => output.note(text);
  const hidesLog = process.stdout.isTTY && flags.rawLog === undefined;
  const showLog = createCallLog(directory, output);
  const onLog = (written: OutputChunk, marketplace?: Marketplace) =>
    void (hidesLog && written.isLog && showLog(written, marketplace));
  const options = { nodeArguments, say, hidesLog };
  if (!flags.marketplace) {
    const { profile } = await openProject(directory);
    const server = () => localServer(directory, profile.token);
    await develop({ ...options, directory, server, onWritten: onLog, onState: publisherOf(directory) });
    return exitCodes.ok;
  }
  const { placeOf, withLocal } = await import('../../marketplace/place.ts');
  const place = await placeOf({}, true);
  return withLocal(
    place,
    { ...options, port, startsServer: true, onWritten: onLog },
    async (local, ended) => {
      output.line(`${output.style('bold', 'Marketplace')}  ${linkOf(local)}`);
      await ended;
      return exitCodes.ok;
    },
  );
}

const inspectPort = '9229';

/** The debugger is reachable from this machine only. */
function inspectArguments(given: string | true | undefined): readonly string[] {
  const text = given === true ? inspectPort : given;
  const hint = `Write --inspect ${inspectPort}.`;
  const port = numberIn('--inspect', text, [1, 65_535], 'a port from 1 to 65535', hint);
  return port === undefined ? [] : [`--inspect=127.0.0.1:${text}`];
}
