import type { BrokenServer } from '../variant.ts';

/** Programs that start or stop in a broken way; test/broken/main.ts implements the change for each rule. */
export const brokenPrograms: readonly BrokenServer[] = [
  { rule: 'process.port' },
  { rule: 'process.default-port' },
  { rule: 'process.busy-port' },
  {
    rule: 'process.no-key',
    profile: (profile) => ({ ...profile, token: { ...profile.token, jwksUrl: null } }),
  },
  { rule: 'process.production-auth' },
  { rule: 'process.production-audience' },
  { rule: 'process.production-https' },
  { rule: 'process.production' },
  { rule: 'health.ready-paid' },
  { rule: 'health.ready-key' },
  { rule: 'health.ready-audience' },
  { rule: 'process.terminate' },
  { rule: 'process.terminate-during-call' },
  { rule: 'process.log-secrets' },
  { rule: 'process.refused-runs-nothing' },
  { rule: 'process.memory' },
];
