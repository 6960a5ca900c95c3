import type { Environment } from '../../../packages/contract/src/target.ts';
import type { Broken, Variant } from '../variant.ts';

/** The launcher chooses a port where the variable is absent. */
function startsAtDefaultPort(environment: Environment): boolean {
  return 'PORT' in environment && environment.PORT === undefined;
}

/** Programs that start or stop in a broken way; test/broken/main.ts implements the change for each rule. */
export const brokenPrograms: Broken<Variant> = {
  'process.port': { neverAnswers: (environment) => !startsAtDefaultPort(environment) },
  'process.default-port': { neverAnswers: startsAtDefaultPort },
  'process.busy-port': { neverAnswers: ({ PORT }) => PORT !== undefined },
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
