import { withManifest } from '../../src/project/manifest/manifest.ts';
import { templatesBelow } from '../../src/project/package/templates.ts';
import { inspectTarget } from '../../src/project/read/target.ts';
import { writeProject } from '../../src/project/write/write.ts';

// Reports that it is ready, then writes all templates to a directory as a project.

const [, , target = '', templates = ''] = process.argv;
const files = [...templatesBelow(templates)].map(
  ([path, content]) => [path, { content, owner: 'yours' }] as const,
);
const answers = { name: 'x', packageManager: 'npm', profile: 'generic', tools: [] } as const;
const set = withManifest(new Map(files), { platform: 'generic', answers, listed: null });
process.stdout.write('ready', () => writeProject(inspectTarget(target, [...set.keys()]), set));
