import {
  combineResults,
  type ExitCode,
  nameList,
  type Output,
  oneOf,
  singleLine,
  unwrap,
} from 'market-mcp-contract/command';
import { planDeployment } from '../../changes/deployment.ts';
import { packageManagerCommands } from '../../plan/package-manager.ts';
import { findProject, manifestFile } from '../../project/manifest/manifest.ts';
import { openProject } from '../../project/read/open.ts';
import { changeProject } from '../../project/write/change.ts';
import { additions, targetNames } from '../../questions/targets.ts';
import { marketCommand } from '../../system/command-line.ts';
import { detectPackageManager } from '../../system/detect.ts';
import { showNext } from '../create/format.ts';

/** `market-mcp deploy add <target…>`: the files of the targets and their sections of DEPLOY.md, all or none. */
export async function deploy(
  _action: 'add',
  names: readonly string[],
  output: Output,
  { dryRun }: { readonly dryRun?: boolean },
): Promise<ExitCode> {
  const wanted = unwrap(combineResults(names.map((name) => oneOf(targetNames, name, '<target>'))));
  const directory = findProject(process.cwd());
  const plan = async () => planDeployment(await openProject(directory), wanted);
  const contents = ({ change, left }: Awaited<ReturnType<typeof plan>>) => ({
    targets: wanted,
    files: change === null ? [] : [...change.files.keys()],
    changes: left,
  });
  if (dryRun) {
    const planned = await plan();
    const { showDryRun } = await import('../tools/dry-run.ts');
    return showDryRun(directory, planned.change, contents(planned), output);
  }
  const made = await changeProject(directory, plan);
  if (made.change === null) output.done(`nothing to do for ${nameList(wanted)}: the project has all files`);
  else {
    for (const path of made.change.files.keys()) if (path !== manifestFile) output.done(path);
    for (const { path, what, why } of made.left) output.note(singleLine(`${path} ${what}: ${why}`));
    const where = 'DEPLOY.md says what to set and how to start it';
    const places = wanted.filter((name) => additions[name] === undefined);
    const checks = places.map((name) => ({ command: marketCommand('check', '--deploy', name), where }));
    const { install } = packageManagerCommands[detectPackageManager(directory)];
    const installs = made.change.files.has('package.json') ? [{ command: install }] : [];
    const further = places.length < wanted.length ? [{ command: marketCommand('check'), where }] : [];
    showNext([...installs, ...further, ...checks], output);
  }
  return output.result({ ok: true, directory, ...contents(made) });
}
