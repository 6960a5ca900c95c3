/** A run of the rules, its verdict, and how it is written. */
export { isRule, rules } from '../catalogue.ts';
export { arrived, changesBetween, gone, toolsByName } from '../check/drift.ts';
export { examine, type Locate, type PreviousListing } from '../check/examine.ts';
export { examplesSchema } from '../check/examples.ts';
export { listingIn } from '../check/files.ts';
export type { CheckReport, ListingChange, OtherError } from '../check/model.ts';
export { nameErrors } from '../check/select.ts';
export { failsCheck } from '../check/verdict.ts';
export { exampleText, originOf } from '../rules/explanation.ts';
export { explanations } from '../rules/explanations.ts';
export { isSecretParameter } from '../rules/fit-schema.ts';
export { budgets } from '../rules/fit-size.ts';
export { inspectTools } from '../rules/inspect.ts';
export { isEmpty } from '../rules/result.ts';
export { compareVersions, securityFixes } from '../versions.ts';
export { countsOf, fileOf, groupOf, reasonLine, remarksOf, verdictOf } from './format.ts';
export { groupsOf, type ProblemGroup } from './group.ts';
export { prettyReport } from './pretty.ts';
