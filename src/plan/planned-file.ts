/** Who changes a file after it was written. `yours`: the author; the program only merges. `generated`: the program. */
export type Ownership = 'yours' | 'generated';

/** A file to create: copied from a template byte for byte, or rendered from a `.hbs` with a context. */
export interface PlannedFile {
  /** Path in the project, `/` between parts. */
  readonly path: string;
  /** Path below `templates/`. */
  readonly template: string;
  /** Absent: copied byte for byte. */
  readonly context?: object;
  readonly owner: Ownership;
}

/** A finished file. */
export interface ProjectFile {
  readonly content: Uint8Array;
  readonly owner: Ownership;
  /** Permissions; absent: those of the file that it replaces. */
  readonly mode?: number;
}

/** Path in the project → file. */
export type FileSet = ReadonlyMap<string, ProjectFile>;

/** Path below `templates/` → content: all templates of the package. */
export type TemplateSet = ReadonlyMap<string, Uint8Array>;
