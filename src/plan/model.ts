/**
 * Who may change a file after it was written. `generated`: the program rewrites it. `shared`: the template owns it, an
 * author may edit it, an upgrade merges. `author`: written once, never touched again.
 */
export type Ownership = 'generated' | 'shared' | 'author';

/** A file that shall exist: copied from a template byte for byte, or rendered from a `.hbs` with a context. */
export interface PlannedFile {
  /** Path in the project, `/` between parts. */
  readonly path: string;
  /** Path below `templates/`. */
  readonly template: string;
  /** Absent: copied byte for byte. */
  readonly context?: object;
  readonly owner: Ownership;
  /** Set where the file must be executable. */
  readonly executable?: true;
}

/** A finished file. */
export interface ProjectFile {
  readonly content: Uint8Array;
  readonly owner: Ownership;
  readonly executable?: true;
}

/** Path in the project → file. */
export type FileSet = ReadonlyMap<string, ProjectFile>;

/** Path below `templates/` → content: everything the package ships for rendering. */
export type TemplateSet = ReadonlyMap<string, Uint8Array>;
