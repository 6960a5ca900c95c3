const { requireNode } = require('./node-version.js');

/** Starts a program. Every version of Node must be able to parse this file. */
exports.start = (name) => {
  if (!requireNode(name, [[20, 12]])) return;
  const { enableCompileCache } = require('node:module');
  if (enableCompileCache) enableCompileCache();
  require('../dist/main.cjs').main(name, process.argv.slice(2));
};
