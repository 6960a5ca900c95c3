import type { Plan } from '../../project/change.ts';
import type { Decision } from './decide.ts';
import type { Todo } from './imports.ts';

/** What an upgrade makes of a project, before anything is written. */
export interface Upgrade extends Plan {
  readonly from: string;
  readonly to: string;
  /** What becomes of each file that does not stay as it is, by path. */
  readonly files: readonly UpgradedFile[];
  /** What the author has to change, because the upgrade cannot. */
  readonly todos: readonly Todo[];
}

export interface UpgradedFile {
  readonly path: string;
  readonly kind: Exclude<Decision['kind'], 'same' | 'blocked'> | 'imports';
  /** Where conflicts begin, from 1. */
  readonly lines?: readonly number[];
  /** Where the edit of the author's is kept that was overruled. */
  readonly patch?: string;
  readonly why?: 'deleted' | 'own' | 'no base';
}
