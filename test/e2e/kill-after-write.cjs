// A program loads this file with --require. It counts the program's changes of files in the working directory, sends the program
// KILL_SIGNAL after change number KILL_AFTER_WRITE, and writes the number of changes to WRITES_FILE at the end.
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { resolve, sep } = require('node:path');

const { KILL_AFTER_WRITE = '', KILL_SIGNAL, WRITES_FILE } = process.env;
const root = process.cwd() + sep;
const { writeFileSync } = fs;
let writes = 0;

const names = [
  'appendFile',
  'chmod',
  'copyFile',
  'cp',
  'link',
  'mkdir',
  'mkdtemp',
  'rename',
  'rm',
  'rmdir',
  'symlink',
  'unlink',
  'utimes',
  'writeFile',
];

function kill() {
  process.kill(process.pid, KILL_SIGNAL);
}

/** @param {readonly unknown[]} args of a function of node:fs */
function count(args) {
  const paths = args.slice(0, 2).filter((argument) => typeof argument === 'string');
  if (!paths.some((path) => resolve(path).startsWith(root))) return;
  writes += 1;
  if (String(writes) === KILL_AFTER_WRITE) kill();
}

for (const name of names) {
  const change = fs[`${name}Sync`];
  fs[`${name}Sync`] = (...args) => {
    const result = change(...args);
    count(args);
    return result;
  };
  const changeLater = fs.promises[name];
  fs.promises[name] = async (...args) => {
    const result = await changeLater(...args);
    count(args);
    return result;
  };
}
syncBuiltinESMExports();
if (KILL_AFTER_WRITE === '0') kill();
if (WRITES_FILE) process.on('exit', () => writeFileSync(WRITES_FILE, String(writes)));
