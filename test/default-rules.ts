import { rules } from '../packages/contract/src/catalogue.ts';
import { runsByDefault } from '../packages/contract/src/rules/rule.ts';

/** The rules of a check that names none. */
export const defaultRules = rules.filter(runsByDefault);
