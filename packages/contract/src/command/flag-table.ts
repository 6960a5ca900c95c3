/**
 * A flag of a command.
 *
 * @typeParam T its value; includes undefined if the flag may be absent
 */
export interface Flag<T = unknown> {
  /** In the syntax of commander: `--tool <name>`, `--no-build`, `[directory]`. */
  readonly syntax: string;
  readonly description: string;
  /** It can be given several times; `commas`: each time with several values. */
  readonly repeatable?: true | 'commas';
  /** The only allowed values. */
  readonly choices?: readonly string[];
  /** Its value if it is absent. */
  readonly initial?: T;
}

/** The flags of a command, by commander's names. */
export type FlagTable = { readonly [name: string]: Flag };

/** The values of the flags of a table in one run. */
export type Values<Table> = {
  readonly [name in keyof Table as undefined extends ValueOf<Table[name]> ? name : never]?: ValueOf<
    Table[name]
  >;
} & {
  readonly [name in keyof Table as undefined extends ValueOf<Table[name]> ? never : name]: ValueOf<
    Table[name]
  >;
};

type ValueOf<Row> = Row extends Flag<infer T> ? T : never;

/** A flag without a value. */
export function on(syntax: string, description: string): Flag<boolean | undefined> {
  return { syntax, description };
}

/** `--no-build`: switches off what is done without it. */
export function off(syntax: string, description: string): Flag<boolean> {
  return { syntax, description, initial: true };
}

export function textOption(syntax: string, description: string): Flag<string | undefined> {
  return { syntax, description };
}

/** Repeatable; each value may contain several names, separated by commas. */
export function list(syntax: string, description: string): Flag<readonly string[]> {
  return { syntax, description, repeatable: 'commas', initial: [] };
}

export function choice<T extends string, Initial extends T | undefined = undefined>(
  syntax: string,
  description: string,
  choices: readonly T[],
  initial?: Initial,
): Flag<T | Initial> {
  return { syntax, description, choices, initial };
}

/** `--tool` of `--tool <name>`. */
export function flagName({ syntax }: Flag): string {
  return syntax.split(' ')[0] ?? '';
}

/** The arguments of a command line that give the same values of these flags. */
export function replayFlags<Table extends FlagTable>(
  table: Table,
  values: Partial<Values<Table>>,
  names: readonly (keyof Table & string)[],
): readonly string[] {
  return names.flatMap((name) => {
    const flag: Flag = table[name] ?? { syntax: '', description: '' };
    const value: unknown = (values as { readonly [name: string]: unknown })[name] ?? flag.initial;
    if (value === flag.initial || [value].flat().length === 0) return [];
    if (typeof value === 'boolean') return [flagName(flag)];
    return [flagName(flag), [value].flat().join(',')];
  });
}
