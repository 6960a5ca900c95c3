import type { LiveRule, Rule, StaticRule } from './rule.ts';
import { callRules } from './rules/call.ts';
import { dialectRules } from './rules/dialect.ts';
import { discoveryRules } from './rules/discovery.ts';
import { endpointRules } from './rules/endpoint.ts';
import { gateRequestRules } from './rules/gate-request.ts';
import { gateTokenRules } from './rules/gate-token.ts';
import { identityRules } from './rules/identity.ts';
import { inputRules } from './rules/input.ts';
import { loadRules } from './rules/load.ts';
import { metaRules } from './rules/meta.ts';
import { outcomeRules } from './rules/outcome.ts';
import { outputRules } from './rules/output.ts';
import { protocolRules } from './rules/protocol.ts';
import { resultRules } from './rules/result.ts';
import { sessionRules } from './rules/session.ts';
import { startRules } from './rules/start.ts';
import { stopRules } from './rules/stop.ts';
import { submissionRules } from './rules/submission.ts';
import { readable, toolRules } from './rules/tool.ts';
import { transportRules } from './rules/transport.ts';

/** The rules that are read off the definitions, in order of report. */
export const staticRules: readonly StaticRule[] = [
  readable,
  ...toolRules,
  ...inputRules,
  ...outputRules,
  ...dialectRules,
  ...metaRules,
];

/** The rules that take a running server, in order of report. */
export const liveRules: readonly LiveRule[] = [
  ...endpointRules,
  ...identityRules,
  ...discoveryRules,
  ...sessionRules,
  ...protocolRules,
  ...transportRules,
  ...gateTokenRules,
  ...gateRequestRules,
  ...resultRules,
  ...outcomeRules,
  ...callRules,
  ...submissionRules,
  ...startRules,
  ...stopRules,
  ...loadRules,
];

/** Every rule there is. */
export const rules: readonly Rule[] = [...staticRules, ...liveRules];
