import Handlebars from 'handlebars';
import { helpers } from './helpers.ts';

/** The compiled templates by their text: compiling takes most of a rendering. */
const known = new Map<string, TemplateSpecification>();

/**
 * Compiles a template. The build replaces this module by one with all templates compiled, so the
 * package needs no compiler.
 *
 * @param _name path of the template below `templates/`.
 * @throws Error if the template is invalid.
 */
export function compiled(_name: string, source: string): TemplateSpecification {
  const template = known.get(source) ?? new Function(`return ${precompile(source)}`)();
  known.set(source, template);
  return template;
}

/** Compiles a template to a JavaScript expression for the engine. */
export function precompile(source: string): string {
  return String(Handlebars.precompile(source, { noEscape: true, strict: true, knownHelpers }));
}

const knownHelpers = Object.fromEntries(Object.keys(helpers).map((name) => [name, true]));
