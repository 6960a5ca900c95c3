import { attempt } from 'market-mcp-contract/json';
import { environmentFile } from '../../plan/plan-sources.ts';
import { type ApiAddress, readAddresses, readDefaults } from '../../typescript/api-address.ts';
import { textAt } from '../read/edited-files.ts';
import { entriesBelow } from '../read/open.ts';

/**
 * Selects the values that a project already sends to an origin: a file of `src/apis/` uses them, and all its addresses have that origin.
 *
 * @param values the variables in `.env`, which also replace the defaults of addresses
 */
export function valuesForOrigin(
  directory: string,
  values: NodeJS.Dict<string>,
  origin: string,
): NodeJS.Dict<string> {
  const read = (path: string) => attempt(() => textAt(directory, path), undefined) ?? '';
  const files = entriesBelow(directory, 'src/apis').filter(({ isFile }) => isFile);
  const apis = files.map(({ name }) => readAddresses(read(`src/apis/${name}`)));
  const defaults = readDefaults(read(environmentFile));
  const originOf = (address: ApiAddress) => {
    if (address === null) return undefined;
    const url = 'url' in address ? address.url : values[address.variable] || defaults.get(address.variable);
    if (url !== undefined && URL.canParse(url)) return new URL(url).origin;
    return undefined;
  };
  const names = apis
    .filter(
      ({ addresses }) => addresses.length > 0 && addresses.every((address) => originOf(address) === origin),
    )
    .flatMap(({ variables }) => [...variables]);
  return Object.fromEntries(names.filter((name) => values[name]).map((name) => [name, values[name]]));
}
