import type { Plan } from '../../project/write/change.ts';
import type { Decision } from './decide.ts';

/** The planned upgrade of a project: nothing is written yet. */
export interface Upgrade extends Plan {
  readonly from: string;
  readonly to: string;
  /** The files that change, and those that were left although this version has another text, by path. */
  readonly files: readonly UpgradedFile[];
  /** Lines of the author that name what the runtime has renamed. */
  readonly renamed: readonly RenamedExport[];
}

/** One file of an upgrade. */
export interface UpgradedFile {
  readonly path: string;
  readonly kind: Exclude<Decision['kind'], 'same'>;
  /** Lines where conflicts begin, 1-based. */
  readonly lines?: readonly number[];
  /** Path of the text that this version proposes, beside a file that stays as it is. */
  readonly proposal?: string;
  readonly why?: Extract<Decision, { readonly kind: 'kept' }>['why'];
}

/** An import of a name that an entry point of the runtime exports under another one. */
export interface RenamedExport {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly entry: string;
  readonly from: string;
  readonly to: string;
}
