import { develop } from '../../dev/develop.ts';
import { handOverInspector, type Inspection } from '../../dev/inspector.ts';
import { localServer } from '../../dev/local-server.ts';
import { linkOf } from '../../marketplace/core/access.ts';
import { type ExitCode, exitCodes, unwrap } from '../../model/command-error.ts';
import { pass, reject } from '../../model/input-error.ts';
import type { Result } from '../../model/model.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import { openProject } from '../../project/read/open.ts';
import { portIn } from '../marketplace/port.ts';
import type { Output } from '../output.ts';

/** The flags of `market-mcp dev` as given. */
export interface DevFlags {
  /** False if `--no-marketplace` was given. */
  readonly marketplace: boolean;
  readonly port?: string;
  readonly inspect?: string | true;
}

/** `market-mcp dev`: builds and starts the server of the project after each change, beside a local marketplace. */
export async function dev(flags: DevFlags, output: Output): Promise<ExitCode> {
  const asked = unwrap(inspectArguments(flags.inspect));
  const taken = await handOverInspector();
  const nodeArguments = asked.length > 0 || !taken ? asked : [optionOf(taken)];
  if (asked.length === 0 && taken) {
    output.note(`NODE_OPTIONS requests a debugger: attach it to the server at ${taken.host}:${taken.port}`);
  }
  const port = unwrap(portIn(flags.port));
  const directory = findProject(process.cwd());
  if (!flags.marketplace) {
    const { profile } = await openProject(directory);
    const environment = async () => (await localServer(directory, profile.token)).environment;
    await develop({ directory, environment, nodeArguments, say: (text) => output.note(text) });
    return exitCodes.ok;
  }
  const { placeOf, withLocal } = await import('../marketplace/place.ts');
  const place = await placeOf({}, directory);
  return withLocal(place, { nodeArguments, port, startsServer: true }, output, async (local, ended) => {
    output.line(`${output.style('bold', 'Marketplace')}  ${linkOf(local)}`);
    await ended;
    return exitCodes.ok;
  });
}

const inspectPort = '9229';

function optionOf({ option, host, port }: Inspection): string {
  return `--${option}=${host}:${port}`;
}

/** The debugger is reachable from this machine only. */
function inspectArguments(given: string | true | undefined): Result<readonly string[]> {
  if (given === undefined) return pass([]);
  const port = given === true ? inspectPort : given;
  return /^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535
    ? pass([`--inspect=127.0.0.1:${port}`])
    : reject('--inspect', port, 'is not a port from 1 to 65535', `Write --inspect ${inspectPort}.`);
}
