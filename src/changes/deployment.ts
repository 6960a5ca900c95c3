import { CommandError, nameList } from 'market-mcp-contract/command';
import type { DefinitionChange } from '../model/tool-model.ts';
import { redisDependencies } from '../plan/package-versions.ts';
import { planCommonFiles, projectContext } from '../plan/plan-project.ts';
import { withNextManifest } from '../project/manifest/manifest.ts';
import type { Project } from '../project/opened-project.ts';
import { readTemplates } from '../project/package/templates.ts';
import { conflictingFiles } from '../project/read/edited-files.ts';
import { readIfThere, refuseObstacles } from '../project/read/resolve-inside.ts';
import { lockDirectory } from '../project/read/workspace.ts';
import type { ProjectChange } from '../project/write/transaction.ts';
import { type DeployTarget, filesOf, orderTargets, targets } from '../questions/targets.ts';
import { render } from '../render/render.ts';
import { documentChanges } from './documents.ts';
import { recordedAnswers } from './upgrade/common-files.ts';

/** The result of planning to add targets: nothing is written yet. */
export interface Deployment {
  /** Null if the project has everything. */
  readonly change: ProjectChange | null;
  /** Text that the author has to add to a document. */
  readonly left: readonly Omit<DefinitionChange, 'tool'>[];
}

/**
 * Plans the files that targets add to a project, with their sections of DEPLOY.md. A file that an earlier run wrote stays unchanged;
 * one that was deleted is written again.
 *
 * @throws CommandError `FILE_EXISTS` if the author has a file at the path of a new one; the errors of `refuseObstacles`
 */
export async function planDeployment(
  project: Project,
  requestedTargets: readonly DeployTarget[],
): Promise<Deployment> {
  const { directory, manifest, profile } = project;
  const { targets: existingTargets = [] } = manifest.answers;
  const next = orderTargets([...existingTargets, ...requestedTargets]);
  const templates = readTemplates();
  const answers = {
    ...recordedAnswers(manifest, profile),
    lockDirectory: lockDirectory(directory),
    targets: next,
  };
  const paths = filesOf(requestedTargets);
  const planned = planCommonFiles(projectContext(answers), templates).filter(({ path }) =>
    paths.includes(path),
  );
  refuseObstacles(directory, paths);
  const isMissing = (path: string) => readIfThere(directory, path) === undefined;
  const added = new Map(
    [...render(planned, templates)].filter(
      ([path]) => isMissing(path) || !Object.hasOwn(manifest.files, path),
    ),
  );
  requireFree(conflictingFiles(directory, added, manifest));
  if (added.size === 0 && next.length === existingTargets.length) return { change: null, left: [] };
  const titles = next.filter((name) => !existingTargets.includes(name)).map((name) => targets[name].title);
  const documents = await documentChanges(
    project,
    () => ({ targets: next }),
    (text, path) => {
      if (Object.hasOwn(partsOfRedis, path)) return `add there: ${partsOfRedis[path]}`;
      const missing = titles.filter((title) => !text.includes(`## ${title}`));
      if (missing.length === 0 || path !== 'DEPLOY.md') return undefined;
      return `add a section on ${nameList(missing)}: the DEPLOY.md of a new project with the same --deploy has one`;
    },
    templates,
  );
  const files = new Map([...added, ...documents.files]);
  const recorded = next.length > 0 ? { targets: next } : {};
  const nextFiles = withNextManifest(files, [], recorded, manifest, documents.records);
  return { change: { files: nextFiles, removed: [] }, left: documents.left };
}

/** What `src/redis.ts` needs in files that cannot be merged. */
const partsOfRedis: { readonly [path: string]: string } = {
  'package.json': `ioredis ${redisDependencies.ioredis} among its dependencies`,
  'src/main.ts': "import { redisState } from './redis.ts', and state: redisState among the options of serve",
  '.env.example': 'STATE_URL',
};

function requireFree(conflicts: readonly string[]): void {
  if (conflicts.length === 0) return;
  throw new CommandError(
    'FILE_EXISTS',
    `your own ${nameList(conflicts)} would be overwritten`,
    'Nothing was written. Rename your file, run the command again, and bring what you need of both together.',
  );
}
