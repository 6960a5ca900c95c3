import { context } from './context.ts';
import { claudeDirectory, openaiApps } from './directories.ts';
import { generic } from './generic.ts';
import { mcp } from './mcp.ts';
import type { PlatformProfile } from './profile.ts';

/** The marketplaces, whose tokens a server can verify; the default first. */
export const marketplaces: readonly PlatformProfile[] = [generic, context];

/** The built-in profiles, the default first: marketplaces, then directories and the protocol, which have rules but no tokens. */
export const platforms: readonly PlatformProfile[] = [...marketplaces, claudeDirectory, openaiApps, mcp];

export { context, generic, mcp };
