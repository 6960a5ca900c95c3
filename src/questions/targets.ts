import { combineResults, oneOf, pass } from 'market-mcp-contract/command';
import type { FlagAnswer } from './question.ts';

/** Where a project can be deployed. Each target adds files; DEPLOY.md has a section on it. All but `workers` run the image of `docker`. */
export const targets = {
  docker: { title: 'Docker', files: ['Dockerfile', '.dockerignore'] },
  compose: { title: 'Docker Compose', files: ['compose.yaml', 'Caddyfile'] },
  railway: { title: 'Railway', files: ['railway.json'] },
  render: { title: 'Render', files: ['render.yaml'] },
  fly: { title: 'Fly', files: ['fly.toml'] },
  vercel: { title: 'Vercel', files: ['Dockerfile.vercel'] },
  kubernetes: {
    title: 'Kubernetes',
    files: [
      'kubernetes/kustomization.yaml',
      'kubernetes/server.yaml',
      'kubernetes/network.yaml',
      'kubernetes/pod-monitor.yaml',
    ],
  },
  workers: { title: 'Cloudflare Workers', files: ['wrangler.jsonc', 'worker.js'] },
  redis: { title: 'Redis', files: ['src/redis.ts'] },
  watch: { title: 'A daily look', files: ['.github/workflows/watch.yml'] },
} as const satisfies {
  readonly [name: string]: { readonly title: string; readonly files: readonly string[] };
};

export type DeployTarget = keyof typeof targets;

/** Those whose files a project has without asking for them. */
export const standardTargets: readonly DeployTarget[] = ['docker'];

/** Those that are no place to deploy to, and why there is nothing to check. */
export const additions: { readonly [name in DeployTarget]?: string } = {
  redis: 'is no place to deploy to: every image contains what it adds',
  watch: 'is no place to deploy to: it is a workflow that looks at the server in use',
};

export const targetNames = Object.keys(targets) as readonly DeployTarget[];

const addable = targetNames.filter((name) => !standardTargets.includes(name));

export const deployFlag: FlagAnswer<readonly DeployTarget[], readonly string[]> = {
  flag: {
    syntax: '--deploy <target>',
    description: `also write the files for this target: ${addable.join(', ')} (docker is always there); repeatable`,
    repeatable: true,
  },
  parse(texts) {
    const parsed = combineResults(texts.map((text) => oneOf(targetNames, text, '--deploy')));
    if (parsed.ok) return pass(orderTargets(parsed.value));
    return parsed;
  },
  replay: (names) => names.flatMap((name) => ['--deploy', name]),
};

/** Each target once, in the order of the table, without those that every project has. */
export function orderTargets(names: readonly DeployTarget[]): readonly DeployTarget[] {
  return addable.filter((name) => names.includes(name));
}

/** Other names of a file, each for the target that looks for it there. */
export const copies: { readonly [path: string]: readonly string[] } = { Dockerfile: ['Dockerfile.vercel'] };

/** The file that the image of a target is built with. */
export function dockerfileOf(name: DeployTarget): string {
  return filesOf([name]).find((file) => copies.Dockerfile?.includes(file)) ?? 'Dockerfile';
}

/** The files of targets. */
export function filesOf(names: readonly DeployTarget[]): readonly string[] {
  return names.flatMap((name) => targets[name].files);
}
