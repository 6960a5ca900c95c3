import { generic } from '../../packages/contract/src/platforms/all.ts';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import { planProject } from '../../src/plan/plan-project.ts';
import { readTemplates } from '../../src/project/package/templates.ts';
import { targetNames } from '../../src/questions/targets.ts';
import { render } from '../../src/render/render.ts';
import { preparedTools } from '../plan/prepared.ts';

const templates = readTemplates();

const projects = new Map<string, ReturnType<typeof render>>();

/** A file of a project that has every target. */
export function fileOf(path: string, profile: PlatformProfile = generic, name = 'gas.prices_2'): string {
  const key = `${profile.name} ${name}`;
  const files = projects.get(key) ?? projectOf(profile, name);
  projects.set(key, files);
  return new TextDecoder().decode(files.get(path)?.content);
}

function projectOf(profile: PlatformProfile, name: string) {
  const answers = {
    name,
    profile,
    packageManager: 'npm',
    tools: preparedTools,
    packages: { program: '1.2.3', runtime: '1.2.3' },
    start: 'blank',
    targets: targetNames,
  } as const;
  return render(planProject(answers, templates), templates);
}
