import { posix } from 'node:path';
import { runtimePackage } from '../../../plan/versions.ts';
import { exportedNames, type ModuleReference, moduleReferences } from '../../../typescript/imports.ts';
import type { Todo } from '../model.ts';
import { packageExports, replacementOf } from './exports.ts';

/** The result for one of the author's files. */
export interface Moved {
  /** The same text if nothing had to change. */
  readonly text: string;
  readonly todos: readonly Todo[];
}

/** Modules of a project: path → text. */
type Modules = ReadonlyMap<string, string>;

/** Updates imports in an author's files when the runtime's modules leave the project. */
export class ImportMover {
  readonly #before: Modules;
  /** Modules of this version and entry points of the runtime → the names that they export. */
  readonly #exports: ReadonlyMap<string, ReadonlySet<string>>;

  /**
   * @param before the modules that belong to no tool, as the recorded version wrote them
   * @param after the same, as this version writes them
   */
  constructor(before: Modules, after: Modules) {
    this.#before = before;
    const modules = [...after].map(([path, text]) => [path, exportedNames(text)] as const);
    this.#exports = new Map([...modules, ...packageExports]);
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
      if (written === undefined)
        todos.unshift(todoOf(path, target, reference, this.#missing(target, reference)));
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
    return exported === undefined || (reference.names ?? []).some(({ name }) => !exported.has(name));
  }

  /** Names that no module exports any more. */
  #missing(target: string, { names }: ModuleReference): readonly string[] {
    return (names ?? []).map(({ name }) => name).filter((name) => this.#homeOf(name, target) === undefined);
  }

  /** The new statement; undefined if no module exports one of its names. */
  #written(path: string, text: string, target: string, reference: ModuleReference): string | undefined {
    const { names, statement, at, kind, isType } = reference;
    const quote = text[at[0]];
    const specifierOf = (home: string) => quote + specifierFrom(path, home) + quote;
    const withSpecifier = (home: string) =>
      text.slice(statement[0], at[0]) + specifierOf(home) + text.slice(at[1], statement[1]);
    if (names === null || names.length === 0) {
      const home = kind === 'effect' ? undefined : replacementOf(target);
      return home && withSpecifier(home);
    }
    const groups = new Map<string, string[]>();
    for (const { name, text } of names) {
      const home = this.#homeOf(name, target);
      if (home === undefined) return undefined;
      groups.set(home, [...(groups.get(home) ?? []), text]);
    }
    const [only] = groups.keys();
    if (groups.size === 1 && only !== undefined) return withSpecifier(only);
    const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
    const separator = (text[statement[1]] === ';' ? ';' : '') + lineEnd;
    return [...groups]
      .map(
        ([home, parts]) =>
          `${kind}${isType ? ' type' : ''} { ${parts.join(', ')} } from ${specifierOf(home)}`,
      )
      .join(separator);
  }

  /** The module to import a name from: its old one, else the only one that exports it. */
  #homeOf(name: string, target: string): string | undefined {
    const homes = [...this.#exports].filter(([, names]) => names.has(name)).map(([module]) => module);
    return homes.includes(target) ? target : homes.length === 1 ? homes[0] : undefined;
  }
}

function todoOf(path: string, target: string, { line }: ModuleReference, missing: readonly string[]): Todo {
  const what = missing.length > 0 ? `${missing.join(', ')} from ${target}` : target;
  return { path, line, text: `imports ${what}, which ${runtimePackage} does not export` };
}

function specifierFrom(path: string, home: string): string {
  if (packageExports.has(home)) return home;
  const relative = posix.relative(posix.dirname(path), home);
  return relative.startsWith('.') ? relative : `./${relative}`;
}
