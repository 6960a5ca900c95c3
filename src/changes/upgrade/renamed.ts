import { moduleReferences } from '../../typescript/imports.ts';

/** An import of a name that an entry point of the runtime exports under another one. */
export interface RenamedExport {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly entry: string;
  readonly from: string;
  readonly to: string;
}

/** Entry point of the runtime → former name → name: `packages/runtime/renamed.json`. */
export type RenamedExports = { readonly [entry: string]: { readonly [former: string]: string } };

/**
 * The lines of source files that import a name that the runtime has renamed.
 *
 * @param files path → text
 */
export function renamedIn(
  files: ReadonlyMap<string, string>,
  renamed: RenamedExports,
): readonly RenamedExport[] {
  return [...files].flatMap(([path, text]) =>
    moduleReferences(text).flatMap(({ specifier: entry, names, statement: [start, end] }) => {
      const table = Object.hasOwn(renamed, entry) ? renamed[entry] : undefined;
      return (names ?? []).flatMap(({ name: from }) => {
        if (table === undefined || !Object.hasOwn(table, from)) return [];
        const at = start + text.slice(start, end).search(new RegExp(`(?<![\\w$])${from}(?![\\w$])`));
        const line = text.slice(0, at).split('\n').length;
        return [{ path, line, entry, from, to: table[from] ?? '' }];
      });
    }),
  );
}
