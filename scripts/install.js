import { execSync } from 'node:child_process';
import { join } from 'node:path';

// Installs what the build needs, without the tools of the tests. The lock file names no addresses, so npm asks the registry about
// each package, even if it has them all. The first attempt goes by what npm has cached, which may be older than the lock file.

const command = 'npm ci -w packages --include-workspace-root';
const cwd = join(import.meta.dirname, '..');
console.log('Installing what the build needs.');
try {
  execSync(`${command} --prefer-offline`, { cwd, stdio: ['ignore', 'inherit', 'pipe'] });
} catch {
  try {
    execSync(command, { cwd, stdio: 'inherit' });
  } catch {
    process.exitCode = 1; // npm has said why
  }
}
