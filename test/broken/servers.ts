import { brokenAnswers } from './servers/answers.ts';
import { brokenDiscovery } from './servers/discovery.ts';
import { brokenExplorations } from './servers/explore.ts';
import { brokenGates, brokenRequests } from './servers/gate.ts';
import { brokenModern } from './servers/modern.ts';
import { brokenProtocol } from './servers/protocol.ts';
import { brokenResults } from './servers/result.ts';
import { brokenRuntimes } from './servers/runtime.ts';
import { brokenSearches } from './servers/searches.ts';
import { brokenSessions } from './servers/session.ts';
import { brokenTransport } from './servers/transport.ts';
import { brokenValues } from './servers/values.ts';
import { rowsOf } from './variant.ts';

/** For each rule that judges a server, servers that break it. */
export const brokenServers = rowsOf(
  brokenAnswers,
  brokenDiscovery,
  brokenSessions,
  brokenProtocol,
  brokenTransport,
  brokenGates,
  brokenRequests,
  brokenModern,
  brokenResults,
  brokenValues,
  brokenExplorations,
  brokenSearches,
  brokenRuntimes,
);
