import type { Broken, Variant } from '../variant.ts';

/** Programs that start or stop in a broken way; test/broken/main.ts implements the change for each rule. */
export const brokenPrograms: Broken<Variant> = {
  'process.port': {},
  'process.default-port': {},
  'process.busy-port': {},
  'process.no-key': { profile: (profile) => ({ ...profile, token: { ...profile.token, jwksUrl: null } }) },
  'process.production-auth': {},
  'process.production-audience': {},
  'process.production-https': {},
  'process.production': {},
  'health.ready-paid': {},
  'health.ready-key': {},
  'health.ready-audience': {},
  'process.terminate': {},
  'process.terminate-during-call': {},
  'process.log-secrets': {},
  'process.refused-runs-nothing': {},
  'process.memory': {},
};
