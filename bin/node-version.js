/**
 * Returns true if the running Node has at least one of the versions in its release line, or a newer line than all of them.
 * Otherwise, prints an error that names the required version, and sets exit code 2.
 *
 * Every version of Node must be able to parse this file.
 *
 * @param {string} name of the program
 * @param {[number, number][]} minimums major and minor of each supported release line, in ascending order
 */
exports.requireNode = (name, minimums) => {
  const version = process.versions.node;
  const [major, minor] = version.split('.').map(Number);
  const newest = minimums[minimums.length - 1];
  const isSupported =
    major > newest[0] || minimums.some(([line, minimum]) => major === line && minor >= minimum);
  if (isSupported) return true;
  const needed = minimums.map((minimum) => minimum.join('.')).join(' or ');
  process.stderr.write(
    `${name} needs Node.js ${needed} or later, but this is Node.js ${version}.\nInstall a newer version from https://nodejs.org, and run the command again.\n`,
  );
  process.exitCode = 2;
  return false;
};
