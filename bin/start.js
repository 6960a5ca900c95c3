import module from 'node:module';

/** Starts a program, or says that Node is too old. Every Node with ES modules must be able to read this. */
export function start(name) {
  const version = process.versions.node;
  const [major, minor] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 12)) {
    if (module.enableCompileCache) module.enableCompileCache();
    import('../dist/main.js').then(({ main }) => main(name, process.argv.slice(2)));
  } else {
    process.stderr.write(`${name} needs Node 20.12 or later, this is Node ${version}.\n`);
    process.exitCode = 2;
  }
}
