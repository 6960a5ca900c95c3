import { posix } from 'node:path';
import type { FileSet } from '../../../plan/model.ts';
import { runtimePackage } from '../../../plan/versions.ts';
import { isInOtherRepository } from '../../../project/read/inside.ts';
import { textOf } from '../../../project/read/text.ts';
import { exportedNames, type ModuleReference, moduleReferences } from '../../../typescript/imports.ts';
import type { Todo } from '../model.ts';
import { packageExports } from './exports.ts';

/** The result for one of the author's files. */
export interface Moved {
  /** The same text if nothing had to change. */
  readonly text: string;
  readonly todos: readonly Todo[];
}

/** The author's files with changed imports, and the open tasks in them. */
export interface MovedFiles {
  readonly texts: ReadonlyMap<string, MovedText>;
  /** Files of other repositories, which are not written. */
  readonly elsewhere: ReadonlyMap<string, MovedText>;
  readonly todos: readonly Todo[];
}

interface MovedText {
  readonly before: string;
  readonly after: string;
}

/** Updates the imports of the runtime in an author's files: path → text. */
export function movedFiles(
  directory: string,
  authors: ReadonlyMap<string, string>,
  { base, theirs }: { readonly base: FileSet; readonly theirs: FileSet },
): MovedFiles {
  const mover = new ImportMover(modulesIn(base), modulesIn(theirs));
  const results = [...authors].map(([path, before]) => ({ path, before, ...mover.move(path, before) }));
  const changed = results.filter(({ before, text }) => before !== text);
  const moved = (isElsewhere: boolean) =>
    changed
      .filter(({ path }) => isInOtherRepository(directory, path) === isElsewhere)
      .map(({ path, before, text }) => [path, { before, after: text }] as const);
  return {
    texts: new Map(moved(false)),
    elsewhere: new Map(moved(true)),
    todos: results.flatMap(({ todos }) => todos),
  };
}

function modulesIn(files: FileSet): Modules {
  const modules = [...files].filter(([path]) => path.endsWith('.ts'));
  return new Map(modules.map(([path, { content }]) => [path, textOf(content)]));
}

/** Modules of a project: path → text. */
type Modules = ReadonlyMap<string, string>;

/** Updates imports in an author's files when the runtime's modules leave the project. */
export class ImportMover {
  /** Modules of the recorded version → the names that they export. */
  readonly #before: ReadonlyMap<string, ReadonlySet<string>>;
  /** Modules of this version and entry points of the runtime → the names that they export. */
  readonly #exports: ReadonlyMap<string, ReadonlySet<string>>;

  /**
   * @param before the modules that belong to no tool, as the recorded version wrote them
   * @param after the same, as this version writes them
   */
  constructor(before: Modules, after: Modules) {
    const namesIn = (modules: Modules) =>
      new Map([...modules].map(([path, text]) => [path, exportedNames(text)] as const));
    this.#before = namesIn(before);
    this.#exports = new Map([...namesIn(after), ...packageExports]);
  }

  /**
   * Rewrites each import from a module that was removed, or no longer exports a name, to the module that exports the name now.
   */
  move(path: string, text: string): Moved {
    const todos: Todo[] = [];
    let moved = text;
    for (const reference of moduleReferences(text).toReversed()) {
      const target = this.#target(path, reference.specifier);
      if (target === undefined || !this.#isBroken(target, reference)) continue;
      const written = this.#written(path, text, target, reference);
      if (written === undefined) todos.unshift(this.#todo(path, target, reference));
      else moved = moved.slice(0, reference.statement[0]) + written + moved.slice(reference.statement[1]);
    }
    return { text: moved, todos };
  }

  /** The module of the old runtime that a specifier names. */
  #target(path: string, specifier: string): string | undefined {
    if (!/^\.\.?\//.test(specifier)) return undefined;
    const target = posix.join(posix.dirname(path), specifier).replace(/^dist\//, '');
    const candidates = [target, target.replace(/\.js$/, '.ts'), `${target}.ts`];
    return candidates.find((candidate) => this.#before.has(candidate));
  }

  #isBroken(target: string, reference: ModuleReference): boolean {
    const exported = this.#exports.get(target);
    return exported === undefined || this.#needed(target, reference).some((name) => !exported.has(name));
  }

  /** The names that a reference needs: all of the old module if it names none. */
  #needed(target: string, { kind, names }: ModuleReference): readonly string[] {
    if (kind === 'effect') return [];
    return names?.map(({ name }) => name) ?? [...(this.#before.get(target) ?? [])];
  }

  /** The new statement; undefined if no module exports one of its names, or none all that a reference to the whole needs. */
  #written(path: string, text: string, target: string, reference: ModuleReference): string | undefined {
    const { names, statement, braces, at } = reference;
    const homes = new Set(this.#needed(target, reference).map((name) => this.#homeOf(name, target)));
    if (homes.size === 0 || homes.has(undefined) || (names === null && homes.size > 1)) return undefined;
    const written = [...homes].map((home = '') => {
      const parts = names?.filter(({ name }) => this.#homeOf(name, target) === home).map(({ text }) => text);
      return [
        text.slice(statement[0], braces[0]),
        homes.size > 1 ? `{ ${parts?.join(', ')} }` : text.slice(...braces),
        text.slice(braces[1], at[0] + 1),
        specifierFrom(path, home),
        text.slice(at[1] - 1, statement[1]),
      ].join('');
    });
    const end = (text[statement[1]] === ';' ? ';' : '') + (text.includes('\r\n') ? '\r\n' : '\n');
    return written.join(end + /[ \t]*$/.exec(text.slice(0, statement[0])));
  }

  /** The module to import a name from: its old one, else the only one that exports it. */
  #homeOf(name: string, target: string): string | undefined {
    const homes = [...this.#exports].filter(([, names]) => names.has(name)).map(([module]) => module);
    return homes.includes(target) ? target : homes.length === 1 ? homes[0] : undefined;
  }

  #todo(path: string, target: string, reference: ModuleReference): Todo {
    const { line, kind, names } = reference;
    const missing = (names ?? []).filter(({ name }) => this.#homeOf(name, target) === undefined);
    const part = missing.length > 0 ? `${missing.map(({ name }) => name).join(', ')} from ` : '';
    const what = names === null && kind !== 'effect' ? `all of ${target}` : part + target;
    return { path, line, text: `imports ${what}, which ${runtimePackage} does not export` };
  }
}

function specifierFrom(path: string, home: string): string {
  if (packageExports.has(home)) return home;
  const relative = posix.relative(posix.dirname(path), home);
  return relative.startsWith('.') ? relative : `./${relative}`;
}
