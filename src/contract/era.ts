import type { Era, RuleText } from './model.ts';
import type { PlatformProfile } from './profile.ts';
import { isStatic } from './static-rules.ts';

/** The eras that are judged: a platform that switches the stateless revision off has sessions alone. */
export function judgedEra(asked: Era = 'both', { protocol }: PlatformProfile): Era {
  return asked === 'both' && protocol?.modern === 'off' ? 'legacy' : asked;
}

/** Whether a rule says something of an era. Definitions and the address of the server are the same in each. */
export function isOfEra(rule: RuleText, era: Era): boolean {
  if (era === 'both') return true;
  const isModern = rule.id.startsWith('modern.');
  if (era === 'legacy') return !isModern;
  return isModern || isStatic(rule) || /^(endpoint|health)\./.test(rule.id);
}
