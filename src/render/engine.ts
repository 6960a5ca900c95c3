import Handlebars from 'handlebars';
import { compiled } from './compiled.ts';
import { helpers } from './helpers.ts';

const engine = Handlebars.create();
engine.registerHelper(helpers);

/**
 * Renders one template.
 *
 * @param name its path below `templates/`.
 * @throws Error that names the template, where it or its context is invalid.
 */
export function renderTemplate(name: string, source: string, context: object): string {
  try {
    return engine.template(compiled(name, source))(context);
  } catch (error) {
    throw new Error(`template ${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
