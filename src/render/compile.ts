import Handlebars from 'handlebars';
import { helpers } from './helpers.ts';

/** Compiles a template to a JavaScript expression for the engine. */
export function precompile(source: string): string {
  return String(Handlebars.precompile(source, { noEscape: true, strict: true, knownHelpers }));
}

const knownHelpers = Object.fromEntries(Object.keys(helpers).map((name) => [name, true]));
