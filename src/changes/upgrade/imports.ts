import { posix } from 'node:path';
import { exportedNames, type ModuleReference, moduleReferences } from '../../typescript/imports.ts';

/** Something that the author has to change because the upgrade cannot. */
export interface Todo {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

/** The modules of the runtime before and after an upgrade: path → text. */
export interface Runtimes {
  readonly before: ReadonlyMap<string, string>;
  readonly after: ReadonlyMap<string, string>;
}

/** The result for one of the author's files. */
export interface Moved {
  /** The same text if nothing had to change. */
  readonly text: string;
  readonly todos: readonly Todo[];
}

/** Updates imports in an author's files when the runtime's modules change. */
export class ImportMover {
  readonly #runtimes: Runtimes;
  /** Name → the new modules that export it. */
  readonly #homes = new Map<string, string[]>();
  readonly #exports = new Map<string, ReadonlySet<string>>();

  constructor(runtimes: Runtimes) {
    this.#runtimes = runtimes;
    for (const [path, text] of runtimes.after) {
      const names = exportedNames(text);
      this.#exports.set(path, names);
      for (const name of names) this.#homes.set(name, [...(this.#homes.get(name) ?? []), path]);
    }
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
    const target = posix.join(posix.dirname(path), specifier);
    const candidates = [target, target.replace(/\.js$/, '.ts'), `${target}.ts`];
    return candidates.find((candidate) => this.#runtimes.before.has(candidate));
  }

  #isBroken(target: string, reference: ModuleReference): boolean {
    return !this.#runtimes.after.has(target) || this.#missing(target, reference).length > 0;
  }

  /** Names that the module no longer exports. */
  #missing(target: string, { names }: ModuleReference): readonly string[] {
    const exported = this.#exports.get(target);
    return (names ?? []).map(({ name }) => name).filter((name) => !exported?.has(name));
  }

  /** The new statement; undefined if no module exports one of its names. */
  #written(path: string, text: string, target: string, reference: ModuleReference): string | undefined {
    const { names, statement, at, kind, isType } = reference;
    if (names === null || names.length === 0) return undefined;
    const groups = new Map<string, string[]>();
    for (const { name, text } of names) {
      const home = this.#homeOf(name, target);
      if (home === undefined) return undefined;
      groups.set(home, [...(groups.get(home) ?? []), text]);
    }
    const quote = text[at[0]];
    const specifierOf = (home: string) => quote + relativeTo(path, home) + quote;
    const [only] = groups.keys();
    if (groups.size === 1 && only !== undefined) {
      return text.slice(statement[0], at[0]) + specifierOf(only) + text.slice(at[1], statement[1]);
    }
    const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
    const separator = (text[statement[1]] === ';' ? ';' : '') + lineEnd;
    return [...groups]
      .map(
        ([home, parts]) =>
          `${kind}${isType ? ' type' : ''} { ${parts.join(', ')} } from ${specifierOf(home)}`,
      )
      .join(separator);
  }

  /** The module to import a name from: its old one, the one for authors, or the only other one that exports it. */
  #homeOf(name: string, target: string): string | undefined {
    const homes = this.#homes.get(name) ?? [];
    const [first] = homes;
    return (
      homes.find((home) => home === target) ??
      homes.find((home) => home === forAuthors) ??
      (homes.length === 1 ? first : undefined)
    );
  }
}

/** The runtime's module for authors. */
const forAuthors = 'src/server/define-tool.ts';

/** The packages that a file imports: `ajv`, `@scope/name`. */
export function importedPackages(text: string): readonly string[] {
  return moduleReferences(text)
    .filter(({ specifier }) => !/^(\.|\/|node:)/.test(specifier))
    .map(({ specifier }) =>
      specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/'),
    );
}

function todoOf(path: string, target: string, { line }: ModuleReference, missing: readonly string[]): Todo {
  const what = missing.length > 0 ? `${missing.join(', ')} from ${target}` : target;
  return { path, line, text: `imports ${what}, which no longer exists` };
}

function relativeTo(path: string, home: string): string {
  const relative = posix.relative(posix.dirname(path), home);
  return relative.startsWith('.') ? relative : `./${relative}`;
}
