import Handlebars from 'handlebars';
import { compiled } from './compiled.ts';
import { helpers } from './helpers.ts';

const engine = Handlebars.create();
engine.registerHelper(helpers);

/**
 * Renders one template.
 *
 * @param name its path below `templates/`.
 * @param source its text; if the name ends in `.js`, the output of `precompile`.
 * @throws Error that names the template if it or its context is invalid.
 */
export function renderTemplate(name: string, source: string, context: object): string {
  try {
    const template = name.endsWith('.js') ? evaluated(source) : compiled(name, source);
    return engine.template(template)(context);
  } catch (error) {
    throw new Error(`template ${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

function evaluated(code: string): TemplateSpecification {
  return new Function(`return ${code}`)();
}
