/** The marketplace contract as code: the exports that tests use. */

export { liveRules, rules } from './catalogue.ts';
export type * from './model.ts';
export type { PlatformProfile } from './platforms/profile.ts';
export { profileProblems, profileSchema } from './platforms/profile-schema.ts';
export { Unreachable } from './probe/reach.ts';
export { createSigner, type Forgery, type Signer } from './probe/signer.ts';
export { printable } from './report/report.ts';
export { type Conclusion, conclusionOf, summaryOf } from './report/summary.ts';
export { inspectTools } from './rules/inspect.ts';
export { type RunOptions, runContract } from './run.ts';
export { sampleArguments } from './schema/smoke.ts';
export { staticRules } from './static-rules.ts';
export type { Environment, Exit, Instance, Launch, OwnedServer, Target } from './target.ts';
