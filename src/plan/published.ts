/**
 * Whether this package is in the public registry. `node build.js --published` sets it. If not, a
 * project contains the package as a file, and no printed or generated text names the package for download.
 */
export const isPublished: boolean = process.env.MARKET_MCP_PUBLISHED === 'true';
