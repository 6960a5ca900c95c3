/** The marketplace contract as code: the exports that tests use. */
export { liveRules, rules } from './catalogue.ts';
export { inspectTools } from './inspect.ts';
export type * from './model.ts';
export { Unreachable } from './probe/reach.ts';
export type { PlatformProfile } from './profile.ts';
export { profileProblems, profileSchema } from './profile-schema.ts';
export { printable } from './report.ts';
export { type RunOptions, runContract } from './run.ts';
export { createSigner, type Forgery, type Signer } from './signer.ts';
export { sampleArguments } from './smoke.ts';
export { staticRules } from './static-rules.ts';
export { type Conclusion, conclusionOf, summaryOf } from './summary.ts';
export type { Environment, Exit, Instance, Launch, OwnedServer, Target } from './target.ts';
