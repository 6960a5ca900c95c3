// The maximum number of calls at once, in total and per token.

import { isolatesRequests, type Limits } from './limits.ts';
import { provideGauge, type ReportLimit } from './log.ts';

interface CallLimit {
  /** Returns whether the limits admit one more call, and counts it if they do. @param limitKey of the token; null for a call that counts only in total */
  enter(limitKey: string | null): boolean;
  /** Stops counting a call that has ended. */
  leave(limitKey: string | null): void;
}

/** Limits the number of calls that run at once, in total (MAX_CALLS) and with one token (MAX_CALLS_PER_TOKEN). */
export function createCallLimit({ maxCalls, maxCallsPerToken }: Limits, reportLimit: ReportLimit): CallLimit {
  if (isolatesRequests()) return { enter: () => true, leave() {} };
  const countsByToken = new Map<string, number>();
  let runningCount = 0;
  provideGauge('calls', () => ({ value: runningCount }));
  provideGauge('callsLimit', () => ({ value: maxCalls }));
  return {
    enter(limitKey) {
      const tokenCount = limitKey === null ? 0 : (countsByToken.get(limitKey) ?? 0);
      if (runningCount >= maxCalls || tokenCount >= maxCallsPerToken) {
        reportLimit(runningCount >= maxCalls ? 'MAX_CALLS' : 'MAX_CALLS_PER_TOKEN');
        return false;
      }
      if (limitKey !== null) countsByToken.set(limitKey, tokenCount + 1);
      runningCount++;
      return true;
    },
    leave(limitKey) {
      runningCount--;
      if (limitKey === null) return;
      const tokenCount = countsByToken.get(limitKey) ?? 0;
      if (tokenCount > 1) countsByToken.set(limitKey, tokenCount - 1);
      else countsByToken.delete(limitKey);
    },
  };
}
