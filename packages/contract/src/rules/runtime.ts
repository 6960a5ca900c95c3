import type { Problem } from '../model.ts';
import type { Runtime, Target } from '../target.ts';
import { compareVersions, type SecurityFix, securityFixes } from '../versions.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { type LiveRule, problemUnless, should } from './rule.ts';

/** The runtime of a generated project. */
export const runtimeRules: readonly LiveRule[] = [
  {
    ...should('runtime.outdated', 'create-market-mcp, docs/upgrade.md'),
    title: 'the installed runtime has the version of the program that checks it',
    fix: 'Run market-mcp upgrade. This is a MUST if a version in between fixes a security issue.',
    controls: [],
    levelOf: ({ runtime }: Target) => (runtime && missingFixes(runtime).length > 0 ? 'must' : 'should'),
    check: async (probe) => outdatedProblems(runtimeOf(probe)),
  },
  {
    ...should('runtime.platform', 'create-market-mcp, docs/platform-profiles.md'),
    title: 'the server and the check read the same platform profile',
    fix: 'Run market-mcp upgrade: it writes src/platform.ts from market-mcp.json.',
    controls: [],
    check: async (probe) => runtimeOf(probe).differences,
  },
];

function runtimeOf({ target }: Probe): Runtime {
  if (target.runtime) return target.runtime;
  throw NotRun.because('inapplicable', 'the server does not belong to a project of create-market-mcp');
}

function outdatedProblems(runtime: Runtime): readonly Problem[] {
  const fixes = missingFixes(runtime).map(({ version, what: change }) => `${version} ${change}`);
  return problemUnless(compareVersions(runtime.version, runtime.newest) >= 0, {
    path: 'node_modules/market-mcp-runtime',
    expected: [runtime.newest, ...fixes].join('; '),
    actual: runtime.version,
  });
}

/** Security fixes that the runtime lacks and the checking program has. */
function missingFixes({ version, newest }: Runtime): readonly SecurityFix[] {
  return securityFixes.filter(
    (fix) => compareVersions(fix.version, version) > 0 && compareVersions(fix.version, newest) <= 0,
  );
}
