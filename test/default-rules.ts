import { rules } from '../packages/contract/src/catalogue.ts';

/** The rules of a check that names none. */
export const defaultRules = rules.filter(({ onlyNamed }) => !onlyNamed);
