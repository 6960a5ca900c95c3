// `npm run build` runs this file first, because the bundler does not start on an older Node.
const { requireNode } = require('../bin/node-version.js');

requireNode('The build of create-market-mcp', [
  [20, 19],
  [22, 12],
]);
