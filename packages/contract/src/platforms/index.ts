/** The facts of each platform, which the rules use. */
export { marketplaces, mcp, platforms } from './all.ts';
export { generic } from './generic.ts';
export type { PlatformProfile } from './profile.ts';
export { profileProblems } from './profile-schema.ts';
export { resolvePlatform } from './resolve.ts';
