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
import { packageManagerCommands } from '../../plan/package-manager-commands.ts';
import { findProject, manifestFile } from '../../project/manifest/manifest.ts';
import { openProject } from '../../project/read/open.ts';
import { changeProject } from '../../project/write/change.ts';
import { additions, targetNames } from '../../questions/targets.ts';
import { marketCommand } from '../../system/command-line.ts';
import { detectPackageManager } from '../../system/detect.ts';
import { showNext } from '../create/creation-lines.ts';

/** `market-mcp deploy add <target…>`: the files of the targets and their sections of DEPLOY.md, all or none. */
export async function deploy(
  _action: 'add',
  names: readonly string[],
  output: Output,
  { dryRun }: { readonly dryRun?: boolean },
): Promise<ExitCode> {
  const requestedTargets = unwrap(combineResults(names.map((name) => oneOf(targetNames, name, '<target>'))));
  const directory = findProject(process.cwd());
  const plan = async () => planDeployment(await openProject(directory), requestedTargets);
  const contents = ({ change, left }: Awaited<ReturnType<typeof plan>>) => ({
    targets: requestedTargets,
    files: change === null ? [] : [...change.files.keys()],
    changes: left,
  });
  if (dryRun) {
    const planned = await plan();
    const { showDryRun } = await import('../tools/dry-run.ts');
    return showDryRun(directory, planned.change, contents(planned), output);
  }
  const deployment = await changeProject(directory, plan);
  if (deployment.change === null)
    output.done(`nothing to do for ${nameList(requestedTargets)}: the project has all files`);
  else {
    for (const path of deployment.change.files.keys()) if (path !== manifestFile) output.done(path);
    for (const { path, what: leftReason, why: reason } of deployment.left)
      output.note(singleLine(`${path} ${leftReason}: ${reason}`));
    const location = 'DEPLOY.md says what to set and how to start it';
    const places = requestedTargets.filter((name) => additions[name] === undefined);
    const checks = places.map((name) => ({
      command: marketCommand('check', '--deploy', name),
      where: location,
    }));
    const { install } = packageManagerCommands[detectPackageManager(directory)];
    const installs = deployment.change.files.has('package.json') ? [{ command: install }] : [];
    const extraSteps =
      places.length < requestedTargets.length ? [{ command: marketCommand('check'), where: location }] : [];
    showNext([...installs, ...extraSteps, ...checks], output);
  }
  return output.result({ ok: true, directory, ...contents(deployment) });
}
