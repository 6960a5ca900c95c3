import { type ExitCode, nameList, type Output, singleLine } from 'market-mcp-contract/command';
import { type Diagnosis, diagnose, diagnosisProblems } from '../../changes/diagnosis.ts';
import { findProject } from '../../project/manifest/manifest.ts';

/** `market-mcp doctor`: examines a project without changing it. @returns 1 if something should be fixed. */
export async function doctor(output: Output): Promise<ExitCode> {
  const diagnosis = await diagnose(findProject(process.cwd()));
  const problems = diagnosisProblems(diagnosis);
  for (const [label, text] of rows(diagnosis)) output.line(singleLine(`${label.padEnd(17)}${text}`));
  output.line();
  for (const problem of problems) output.note(problem);
  const ok = problems.length === 0;
  if (ok) output.done('no problems found');
  return output.result({ ok, ...diagnosis, problems });
}

function rows(found: Diagnosis): readonly (readonly [string, string])[] {
  const { versions, node, packageManager, environment, owners, upgrade } = found;
  const { name, lockFile } = packageManager;
  const edited = ({ files, edited: { length } }: Diagnosis['owners']['yours'], word: string) =>
    `${files} files${length === 0 ? '' : `, ${length} ${word}`}`;
  return [
    ['project', found.directory],
    ['this program', versions.program],
    ['runtime', versions.runtime],
    ['Node', `${node.version}${node.required === null ? '' : ` (package.json requires ${node.required})`}`],
    [
      'package manager',
      `${name} ${packageManager.version ?? 'not installed'}, ${lockFile ?? 'no lock file'}`,
    ],
    ['environment', `NODE_ENV ${environment.nodeEnv ?? 'unset'}, ${dotEnvText(environment.dotEnv)}`],
    ['yours', edited(owners.yours, 'changed by you')],
    ['generated', edited(owners.generated, 'edited')],
    ['upgrade', upgradeText(upgrade)],
  ];
}

function dotEnvText(names: readonly string[] | null): string {
  if (names === null) return 'no .env';
  return `.env sets ${names.length === 0 ? 'nothing' : nameList(names)}`;
}

function upgradeText({ from, to, files, open, refused }: Diagnosis['upgrade']): string {
  if (refused !== null) return 'not possible';
  if (files === '') return 'nothing to do';
  return `${from} → ${to}: ${files}${open.length === 0 ? '' : `; ${open.length} places for you to decide`}`;
}
