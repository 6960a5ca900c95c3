// The author's own environment variables (`defineEnv`).

import { loadEnvironment, startErrors } from '../process.ts';
import { redactDetailsBy } from '../server/error-detail.ts';
import { variables } from '../variables.ts';
import { isReplaying } from './recordings.ts';
import { redactorOf } from './redact.ts';
import { Secret } from './secret.ts';
import { addressNotSet } from './source-address.ts';

/** One variable of the environment: its purpose, and how its text is read. */
export interface Declared<T> {
  /** Description for operators, as in `.env.example`. */
  readonly text: string;
  /** The default; absent if the variable is required. */
  fallback?(name: string): T;
  /** @throws Error that says what is expected; it must not repeat the text of a secret. */
  parse(name: string, text: string): T;
  /** Replaces a missing value. */
  blank(name: string): T;
}

interface Optional {
  /** The server starts without it; a header or parameter that needs it is left out. */
  readonly optional?: true;
}

function defaultTo<T>(value: T | undefined): Pick<Declared<T>, 'fallback'> {
  if (value === undefined) return {};
  return { fallback: () => value };
}

const secretTexts = new Set<string>();

/** Removes a text, in whatever form, from the errors that the log contains. */
function hideInErrors(text: string): void {
  secretTexts.add(text);
  redactDetailsBy(redactorOf([...secretTexts], 1));
}

/** A text that no log and no error contains: a key, a token, a password. */
export function secret(text: string, { optional }: Optional = {}): Declared<Secret> {
  return {
    text,
    ...(optional && { fallback: (name: string) => new Secret(name, null, true) }),
    parse(name, text) {
      if (!/^[\x20-\x7e]+$/.test(text))
        throw new Error('contains a character that is not allowed in a header.');
      hideInErrors(text);
      return new Secret(name, text, optional);
    },
    blank: (name) => new Secret(name, null),
  };
}

/** An http or https URL without query, fragment, user and password. */
export function url(
  text: string,
  { default: fallback }: { readonly default?: string } = {},
): Declared<string> {
  return {
    text,
    ...defaultTo(fallback),
    parse(_, text) {
      const parsed = URL.canParse(text) ? new URL(text) : null;
      const isPlain =
        parsed?.search === '' && parsed.hash === '' && parsed.username === '' && parsed.password === '';
      if (isPlain && /^https?:$/.test(parsed.protocol)) return text;
      throw new Error('expected an http or https URL without query, user and password.');
    },
    blank: () => addressNotSet,
  };
}

/** Any text, without white space around it. */
export function text(
  description: string,
  { default: fallback }: { readonly default?: string } = {},
): Declared<string> {
  return {
    text: description,
    ...defaultTo(fallback),
    parse: (_, text) => text,
    blank: () => '',
  };
}

/** A finite number. */
export function number(
  description: string,
  { default: fallback }: { readonly default?: number } = {},
): Declared<number> {
  return {
    text: description,
    ...defaultTo(fallback),
    parse(_, text) {
      const value = Number(text);
      if (Number.isFinite(value)) return value;
      throw new Error('expected a number.');
    },
    blank: () => 0,
  };
}

type Values<Declarations> = {
  readonly [Name in keyof Declarations]: Declarations[Name] extends Declared<infer T> ? T : never;
};

/**
 * Reads variables of the environment and of the project's `.env`; an empty one counts as not set. All errors are reported at the start, together with
 * those of the server's own variables. While recordings are replayed, a missing variable is not an error: secrets have no
 * text then, and addresses are invalid.
 */
export function defineEnv<const Declarations extends { readonly [name: string]: Declared<unknown> }>(
  declarations: Declarations,
  environment?: { readonly [name: string]: string | undefined },
): Values<Declarations> {
  // Modules are loaded before the server reads its own variables.
  if (environment === undefined) loadEnvironment();
  const environmentValues = environment ?? process.env;
  const values = Object.entries(declarations).map(([name, declaration]) => {
    if (Object.hasOwn(variables, name))
      startErrors.push(`${name}: is a variable of the server itself; choose another name.`);
    return [name, valueFrom(name, declaration, environmentValues[name]?.trim() ?? '')];
  });
  return Object.fromEntries(values);
}

function valueFrom(name: string, declaration: Declared<unknown>, text: string): unknown {
  if (text === '' && declaration.fallback) return declaration.fallback(name);
  try {
    if (text !== '') return declaration.parse(name, text);
    if (!isReplaying()) throw new Error(`must be set: ${declaration.text}`);
  } catch (error) {
    startErrors.push(`${name}: ${(error as Error).message}`);
  }
  return declaration.blank(name);
}
