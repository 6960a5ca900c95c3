import type { PlatformProfile } from 'market-mcp-contract/platforms';
import type { ToolSource } from '../typescript/tool-source.ts';
import type { RecordedList } from './manifest/listed.ts';
import type { Manifest } from './manifest/manifest.ts';

/** A project on disk. */
export interface Project {
  readonly directory: string;
  readonly manifest: Manifest;
  /** The profile that the server itself uses. */
  readonly profile: PlatformProfile;
  /** The tool list that the marketplace last read; null if none is recorded. */
  readonly recordedList: RecordedList | null;
  /** Text of `src/tools/index.ts`. */
  readonly index: string;
  /** Every file below `src/tools/` that exports a tool: first in the order of the list of tools, then files missing from it. */
  readonly tools: readonly ToolFile[];
}

/** One file below `src/tools/`. */
export interface ToolFile {
  /** Path in `src/tools/` without extension: `get-gas-price`. */
  readonly file: string;
  /** `src/tools/get-gas-price.ts` */
  readonly path: string;
  /** Path of its test, even if that does not exist. */
  readonly test: string;
  /** Whether the list of tools contains it. */
  readonly isServed: boolean;
  readonly source: ToolSource;
}
