import type { Plan } from '../../project/write/change.ts';
import type { Decision } from './decide.ts';

/** Something that the author has to change because the upgrade cannot. */
export interface Todo {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

/** The planned upgrade of a project: nothing is written yet. */
export interface Upgrade extends Plan {
  readonly from: string;
  readonly to: string;
  /** The files that change, by path. */
  readonly files: readonly UpgradedFile[];
  /** What the author has to change because the upgrade cannot. */
  readonly todos: readonly Todo[];
}

export interface UpgradedFile {
  readonly path: string;
  readonly kind: Exclude<Decision['kind'], 'same' | 'blocked'> | 'imports';
  /** Lines where conflicts begin, 1-based. */
  readonly lines?: readonly number[];
  /** Path of the patch with the author's edit that was overruled. */
  readonly patch?: string;
  readonly why?: Extract<Decision, { readonly kind: 'kept' }>['why'];
}
