import { join } from 'node:path';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { planCreation } from '../../src/changes/creation.ts';
import { startImport } from '../../src/changes/import-run.ts';
import { inspectTarget } from '../../src/project/read/target-directory.ts';
import { writeProject } from '../../src/project/write/write.ts';
import { completeAnswers } from '../../src/questions/create-answers.ts';
import { directory } from './directory.ts';

/** The directory of a new project with these answers, without packages. */
export async function created(given: Parameters<typeof completeAnswers>[0] = {}): Promise<string> {
  const root = join(directory(), 'prices');
  const { files } = unwrap(await planCreation(completeAnswers({ directory: root, ...given }), startImport()));
  writeProject(inspectTarget(root, [...files.keys()]), files);
  return root;
}
