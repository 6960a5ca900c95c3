import Handlebars from 'handlebars';
import { helpers } from './helpers.ts';

/** Code of a JavaScript expression that is a compiled template, to be handed to the engine. */
export function precompile(source: string): string {
  return String(Handlebars.precompile(source, { noEscape: true, strict: true, knownHelpers }));
}

const knownHelpers = Object.fromEntries(Object.keys(helpers).map((name) => [name, true]));
