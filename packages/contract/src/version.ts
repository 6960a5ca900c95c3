import ours from '../package.json' with { type: 'json' };

/** The version of this package, which is also the version of the runtime and of the program `market-mcp`. */
export const version: string = ours.version;
