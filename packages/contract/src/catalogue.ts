import { answerRules } from './rules/answers.ts';
import { callRules } from './rules/call.ts';
import { discoveryRules } from './rules/discovery.ts';
import { endpointRules } from './rules/endpoint.ts';
import { exploreRules } from './rules/explore.ts';
import { fitResultRule } from './rules/fit-result.ts';
import { gateAddressRules } from './rules/gate-addresses.ts';
import { gateClaimRules } from './rules/gate-claims.ts';
import { gateRequestRules } from './rules/gate-request.ts';
import { gateTokenRules } from './rules/gate-token.ts';
import { identityRules } from './rules/identity.ts';
import { loadRules } from './rules/load.ts';
import { modernRules } from './rules/modern.ts';
import { modernRefusalRules } from './rules/modern-refusal.ts';
import { outcomeRules } from './rules/outcome.ts';
import { pairRules } from './rules/pairs.ts';
import { processRules } from './rules/process.ts';
import { insideRules } from './rules/process-inside.ts';
import { protocolRules } from './rules/protocol.ts';
import { readinessRules } from './rules/readiness.ts';
import { repeatableRule } from './rules/repeated.ts';
import { resultRules } from './rules/result.ts';
import { resultValueRules } from './rules/result-values.ts';
import { isNamedBy, type LiveRule, type Rule, ruleCases } from './rules/rule.ts';
import { runtimeRules } from './rules/runtime.ts';
import { sessionRules } from './rules/session.ts';
import { sessionRefusalRules } from './rules/session-refusal.ts';
import { submissionRules } from './rules/submission.ts';
import { transportRules } from './rules/transport.ts';
import { staticRules } from './static-rules.ts';

/** The rules that need a running server, in the order of `report.rules`; `pretty.ts` prints failures in another order. */
export const liveRules: readonly LiveRule[] = [
  ...endpointRules,
  ...readinessRules,
  ...identityRules,
  ...discoveryRules,
  ...sessionRules,
  ...sessionRefusalRules,
  ...protocolRules,
  ...transportRules,
  ...modernRules,
  ...modernRefusalRules,
  ...gateTokenRules,
  ...gateClaimRules,
  ...gateRequestRules,
  ...gateAddressRules,
  ...resultRules,
  fitResultRule,
  ...outcomeRules,
  ...callRules,
  ...submissionRules,
  ...exploreRules,
  ...pairRules,
  // After the rules that check what generated calls do to the server.
  ...resultValueRules,
  repeatableRule,
  ...processRules,
  ...insideRules,
  ...loadRules,
  ...answerRules,
  ...runtimeRules,
];

/** Every rule. */
export const rules: readonly Rule[] = [...staticRules, ...liveRules];

/** Whether this is the id of a rule or of a case, or the name of a group. */
export function isRule(name: string): boolean {
  return rules.some((rule) => ruleCases(rule).some((part) => isNamedBy(part, name)));
}
