import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const place = 'packages/contract';

/**
 * Imports what an entry of the contract exports from the module that has it. A group of modules that are written to one file would contain all
 * that the entries of their imports export.
 */
export function pastDoors() {
  const { exports } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  const doors = new Map(
    Object.entries(exports).map(([entry, { 'market-mcp-source': source }]) => [
      join('market-mcp-contract', entry).replaceAll('\\', '/'),
      membersOf(resolve(place, source)),
    ]),
  );
  return {
    name: 'past doors',
    transform: {
      filter: { code: "from 'market-mcp-contract" },
      handler: (code) =>
        code.replaceAll(/^import \{([^}]*)\} from '(market-mcp-contract[^']*)';$/gm, (whole, names, door) =>
          namesIn(names)
            .map((name) => {
              const file = doors.get(door)?.get(name);
              if (file === undefined)
                throw new Error(`${whole}: ${door} exports no ${name} of another module`);
              return `import { ${name} } from ${JSON.stringify(file)};`;
            })
            .join(' '),
        ),
    },
  };
}

/** The names that an entry exports from other modules, with these. */
function membersOf(file) {
  const lines = readFileSync(file, 'utf8').matchAll(/^export \{([^}]*)\} from '([^']+)';$/gm);
  return new Map(
    [...lines].flatMap(([, names, from]) =>
      namesIn(names).map((name) => [name, resolve(dirname(file), from)]),
    ),
  );
}

/** Names without types. */
function namesIn(list) {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '));
}
