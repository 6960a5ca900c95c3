/** Starts a program, or reports that Node is too old. Every version of Node must be able to parse this file. */
exports.start = (name) => {
  const version = process.versions.node;
  const [major, minor] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 12)) {
    const { enableCompileCache } = require('node:module');
    if (enableCompileCache) enableCompileCache();
    require('../dist/main.cjs').main(name, process.argv.slice(2));
  } else {
    process.stderr.write(
      `${name} needs Node.js 20.12 or later, but this is Node.js ${version}.\nInstall a newer version from https://nodejs.org, and run the command again.\n`,
    );
    process.exitCode = 2;
  }
};
