/** A run of the rules, its verdict, and how it is written. */
export { isRule, rules } from '../catalogue.ts';
export { arrived, changesBetween, gone, toolsByName } from '../check/drift.ts';
export {
  type Examination,
  type ExamineOptions,
  examine,
  type Locate,
  type PreviousListing,
} from '../check/examine.ts';
export { examplesSchema, readExamples } from '../check/examples.ts';
export { listingIn, readBaseline } from '../check/files.ts';
export type { CheckReport, ListingChange, OtherError } from '../check/model.ts';
export { nameErrors, selector } from '../check/select.ts';
export { createTokenSigner } from '../check/token-signer.ts';
export { baselineOf, failsCheck } from '../check/verdict.ts';
export { type Example, exampleText, originOf } from '../rules/explanation.ts';
export { explanations } from '../rules/explanations.ts';
export { isSecretParameter } from '../rules/fit-schema.ts';
export { budgets } from '../rules/fit-size.ts';
export { inspectTools } from '../rules/inspect.ts';
export { isEmpty } from '../rules/result.ts';
export { compareVersions, securityFixes } from '../versions.ts';
export { countsOf, fileOf, groupOf, reasonLine, remarksOf, verdictOf } from './format.ts';
export { groupsOf, type ProblemGroup } from './group.ts';
export { prettyReport } from './pretty.ts';
export { type ReporterName, reporters } from './reporters.ts';
export { type Conclusion, conclusionOf } from './summary.ts';
