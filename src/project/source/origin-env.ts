import { attempt } from 'market-mcp-contract/json';
import { environmentFile } from '../../plan/sources.ts';
import { type ApiAddress, readAddresses, readDefaults } from '../../typescript/api-address.ts';
import { dotEnv } from '../read/dot-env.ts';
import { textAt } from '../read/files.ts';
import { entriesBelow } from '../read/open.ts';

/** The variables of the project's `.env` that a file of `src/apis/` uses for requests to this origin, and to no other. */
export function dotEnvFor(directory: string, origin: string): NodeJS.Dict<string> {
  const values = dotEnv(directory);
  if (Object.keys(values).length === 0) return {};
  const read = (path: string) => attempt(() => textAt(directory, path), undefined) ?? '';
  const files = entriesBelow(directory, 'src/apis').filter(({ isFile }) => isFile);
  const apis = files.map(({ name }) => readAddresses(read(`src/apis/${name}`)));
  const defaults = readDefaults(read(environmentFile));
  const originOf = (address: ApiAddress) => {
    if (address === null) return undefined;
    const url = 'url' in address ? address.url : values[address.variable] || defaults.get(address.variable);
    return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
  };
  const names = apis
    .filter(({ addresses }) => addresses.length > 0 && addresses.every((one) => originOf(one) === origin))
    .flatMap(({ variables }) => [...variables]);
  return Object.fromEntries(names.flatMap((name) => (values[name] ? [[name, values[name]]] : [])));
}
