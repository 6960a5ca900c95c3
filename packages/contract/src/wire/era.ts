import type { Era, RuleText } from '../model.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { isStatic } from '../static-rules.ts';

/** The eras to check. If the platform switches the stateless revision off, only sessions are checked. */
export function eraToCheck(requestedEra: Era = 'both', { protocol }: PlatformProfile): Era {
  if (requestedEra === 'both' && protocol?.modern === 'off') return 'legacy';
  return requestedEra;
}

/** Whether a rule belongs to an era. Rules about definitions and the server's address belong to both. */
export function isOfEra(rule: RuleText, era: Era): boolean {
  if (era === 'both') return true;
  const isModern = rule.id.startsWith('modern.');
  if (era === 'legacy') return !isModern;
  return isModern || isStatic(rule) || /^(endpoint|health)\./.test(rule.id);
}
