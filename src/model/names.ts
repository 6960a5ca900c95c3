import { builtinModules } from 'node:module';
import { basename, resolve } from 'node:path';
import { pass, type Result, reject } from 'market-mcp-contract/command';
import { toolNamePattern } from 'market-mcp-contract/definition';

/** npm's limit on the length of a package name. */
const projectNameLength = 214;
const projectNamePattern = /^[a-z0-9][a-z0-9._-]*$/;
/** Characters that a field name must not contain: controls, half surrogates, noncharacters. */
const unprintable = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u;
const fieldNameLength = 128;

/** Names that Windows gives to devices, with any extension. */
const deviceName = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/i;
/** Names that npm or the generated project needs. */
const takenProjectNames = new Set(['node_modules', 'favicon.ico', ...builtinModules, 'typescript']);

const prototypeName = '__proto__ sets the prototype in JavaScript, so it cannot be';

/** A tool's name, checked (C§2.1). */
export function parseToolName(text: string, location = '--tool'): Result<string> {
  const name = text.trim();
  const suggestion = `Write ${suggestToolName(name)}.`;
  if (name === '') return reject(location, text, 'the tool has no name', suggestion);
  if (!new RegExp(toolNamePattern).test(name)) {
    const message =
      name.length > 64
        ? `the name has ${name.length} characters; a tool name has at most 64`
        : `a tool name contains only letters, digits, _ and -; ${firstInvalid(name, /[a-zA-Z0-9_-]/)}`;
    return reject(location, text, message, suggestion);
  }
  if (name === '__proto__') return reject(location, text, `${prototypeName} a tool`, suggestion);
  if (isTakenFile(name)) {
    return reject(
      location,
      text,
      `each tool is a file, and ${name} cannot be used as a file name`,
      suggestion,
    );
  }
  return pass(name);
}

/** A field's name: any printable JSON key except `__proto__`, which no object literal can contain. */
export function parseFieldName(text: string, location: string): Result<string> {
  if (text.trim() === '')
    return reject(location, text, 'the field has no name', 'Write a name, such as symbol.');
  if (text === '__proto__') {
    return reject(location, text, `${prototypeName} a field`, 'Use another name, such as proto.');
  }
  if (text.length > fieldNameLength) {
    const message = `the name has ${text.length} characters; a field name has at most ${fieldNameLength}`;
    return reject(location, text, message, `Write ${text.slice(0, 20)}.`);
  }
  if (unprintable.test(text)) {
    const hint = `Write ${text.replace(new RegExp(unprintable, 'gu'), '') || 'symbol'}.`;
    return reject(location, text, 'a field name must not contain control characters', hint);
  }
  return pass(text);
}

/** A field's name as a user types it: without white space, which only imported names contain. */
export function parsePlainFieldName(text: string, location: string): Result<string> {
  const name = text.trim();
  if (/\s/.test(name)) return reject(location, text, 'a name must not contain spaces', spacelessHint(name));
  return parseFieldName(name, location);
}

/** `gas price` → `Write gasPrice or gas_price.` */
export function spacelessHint(name: string): string {
  const words = name.split(/\s+/);
  const camel = words
    .map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
  return `Write ${camel} or ${words.join('_')}.`;
}

/**
 * Validates the directory of a project. Its last part becomes the npm package name. `.` is the current
 * directory.
 */
export function parseDirectory(text: string, location = '[directory]'): Result<string> {
  if (text.trim() === '') {
    const hint = 'Write my-tool, or . for the current directory.';
    return reject(location, text, 'no directory was given for the project', hint);
  }
  if (text.includes('\0')) {
    const message = 'a path must not contain a NUL character';
    return reject(location, text, message, `Write ${suggestProjectName(text)}.`);
  }
  const name = parseProjectName(projectName(text), location);
  return name.ok ? pass(text) : name;
}

/** The last part of a directory, `.` resolved against the current one. */
export function projectName(directory: string): string {
  return basename(resolve(directory));
}

/** The name of a project, which is a directory, an npm package and the server's identity (C§2.4). */
export function parseProjectName(name: string, location: string): Result<string> {
  const suggestion = `Write ${suggestProjectName(name)}.`;
  const message = projectNameError(name);
  if (message === undefined) return pass(name);
  return reject(location, name, message, suggestion);
}

/** `get_gas_price` and `getGasPrice` live in `get-gas-price.ts`, `__version` in `version.ts`. */
export function toolFile(name: string): string {
  return fileForm(name).replace(/^-+/, '') || 'tool';
}

/**
 * What has the file of each name: an earlier one of them, or what `taken` names; undefined if it is free.
 *
 * @param usedFiles by the form of the file, as `toolFile` and `fileForm` give it
 */
export function ownersOf(
  names: readonly string[],
  usedFiles: ReadonlyMap<string, string> = new Map(),
): readonly (string | undefined)[] {
  const owners = new Map(usedFiles);
  return names.map((name) => {
    const owner = owners.get(toolFile(name));
    if (owner === undefined) owners.set(toolFile(name), name);
    return owner;
  });
}

/** A name like this one whose file no other tool has. @param usedNames files, as `toolFile` gives them; the one of this tool is added */
export function freeToolName(name: string, usedNames: Set<string>): string {
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${name.slice(0, 60)}_${count}`;
    if (usedNames.has(toolFile(candidate))) continue;
    usedNames.add(toolFile(candidate));
    return candidate;
  }
}

/** The form in which names of files are compared. */
export function fileForm(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

/** The nearest valid tool name. */
export function suggestToolName(text: string, verb = 'get'): string {
  const folded = fold(text)
    .replace(/[^a-zA-Z0-9_-]+/g, '_')
    .replace(/^[_-]+|[_-]+$/g, '')
    .slice(0, 58);
  if (folded === '') return 'get_price';
  const isFree = /^[a-zA-Z]/.test(folded) && !isTakenFile(folded);
  return isFree ? folded : `${verb}_${folded}`;
}

/** The text with its first letter in upper case. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns whether a tool name can be derived from a text: it has letters a to z, also with accents. */
export function hasToolName(text: string): boolean {
  return /[a-zA-Z]/.test(fold(text));
}

/** The nearest valid project name. */
export function suggestProjectName(text: string): string {
  const folded = fold(text)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
    .slice(0, 60)
    .replace(/[^a-z0-9]+$/, '');
  if (folded === '') return 'my-tool';
  if (projectNameError(folded) === undefined) return folded;
  return `my-${folded.replace(/[._]/g, '-')}`;
}

/** Names that would collide with `index.ts`, which is in the same directory. */
function isTakenFile(tool: string): boolean {
  const file = toolFile(tool);
  return deviceName.test(file) || file === 'index';
}

function projectNameError(name: string): string | undefined {
  if (name === '') return 'the root directory of a disk cannot be a project';
  if (name.length > projectNameLength) {
    return `the name has ${name.length} characters; a package name has at most ${projectNameLength}`;
  }
  if (deviceName.test(name)) return `${name} is a reserved device name on Windows`;
  if (takenProjectNames.has(name)) return `every project already has something called ${name}`;
  if (!projectNamePattern.test(name)) {
    const reason = firstInvalid(name, /[a-z0-9._-]/) ?? 'this name starts with a punctuation mark';
    return `the name of the directory becomes the package name: it starts with a-z or 0-9 and contains only a-z, 0-9, ".", "_" and "-"; ${reason}`;
  }
  if (name.endsWith('.')) return 'the name ends in a dot, which Windows removes';
  return undefined;
}

/** The first invalid character, with its code, so that look-alikes can be distinguished. */
function firstInvalid(text: string, allowedValues: RegExp): string | undefined {
  const invalid = [...text].find((character) => !allowedValues.test(character));
  if (invalid === undefined) return undefined;
  if (invalid === ' ') return 'spaces are not allowed';
  const code = (invalid.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  if (unprintable.test(invalid)) return `U+${code} is not allowed`;
  return `“${invalid}” (U+${code}) is not allowed`;
}

/** Full-width and accented letters as plain ones. */
function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').trim();
}
