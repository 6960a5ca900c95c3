import { createRequire } from 'node:module';
import { helpers } from './helpers.ts';

const knownHelpers = Object.fromEntries(Object.keys(helpers).map((name) => [name, true]));

/** Templates by their text: an upgrade renders the same template several times. */
const templates = new Map<string, TemplateSpecification>();

/**
 * Returns a template as the engine takes it.
 *
 * @param source a template, or the output of `precompile` if the name ends in `.js`
 * @throws Error if the template is invalid.
 */
export function compileTemplate(name: string, source: string): TemplateSpecification {
  const cached = templates.get(source);
  if (cached) return cached;
  const code = name.endsWith('.js') ? source : precompile(source);
  const template: TemplateSpecification = new Function(`return ${code}`)();
  templates.set(source, template);
  return template;
}

/** Compiles a template to a JavaScript expression for the engine. The package has compiled templates, and no compiler. */
export function precompile(source: string): string {
  const { precompile }: typeof import('handlebars') = createRequire(import.meta.url)('handlebars');
  return String(precompile(source, { noEscape: true, strict: true, knownHelpers }));
}
