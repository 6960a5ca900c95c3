import type { PlatformProfile } from '../profile.ts';
import { context } from './context.ts';
import { generic } from './generic.ts';

/** The built-in profiles, the default first. */
export const platforms: readonly PlatformProfile[] = [generic, context];

export { context, generic };
