/** The marketplace contract as code: the exports for the rest of the program and for generated projects. */
export { liveRules, rules } from './catalogue.ts';
export { inspectTools } from './inspect.ts';
export type * from './model.ts';
export type { PlatformProfile } from './profile.ts';
export { profileProblems, profileSchema } from './profile-schema.ts';
export { printable } from './report.ts';
export { type RunOptions, runContract, Unreachable } from './run.ts';
export { createSigner, type Forgery, type Signer } from './signer.ts';
export { sampleArguments } from './smoke.ts';
export { staticRules } from './static-rules.ts';
export { type Conclusion, conclusionOf, summaryOf } from './summary.ts';
export type { Environment, Exit, Instance, Launch, OwnedServer, Target } from './target.ts';
