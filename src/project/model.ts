import type { PlatformProfile } from '../contract/profile.ts';
import type { ToolSource } from '../typescript/tool-source.ts';
import type { Manifest } from './manifest.ts';

/** A project as it stands on disk. */
export interface Project {
  readonly directory: string;
  readonly manifest: Manifest;
  /** The profile that the server itself uses. */
  readonly profile: PlatformProfile;
  /** Text of `src/tools/index.ts`. */
  readonly index: string;
  /** Every file of `src/tools/` that exports a tool: in the order of the list of tools, then those it does not name. */
  readonly tools: readonly ToolFile[];
}

/** One file of `src/tools/`. */
export interface ToolFile {
  /** Name without its ending: `get-gas-price`. */
  readonly file: string;
  /** `src/tools/get-gas-price.ts` */
  readonly path: string;
  /** Its test, whether it is there or not. */
  readonly test: string;
  /** Whether the list of tools names it. */
  readonly served: boolean;
  readonly source: ToolSource;
}
