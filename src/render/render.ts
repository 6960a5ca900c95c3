import Handlebars from 'handlebars';
import type { FileSet, PlannedFile, ProjectFile, TemplateSet } from '../plan/model.ts';
import { compiled } from './compiled.ts';
import { helpers } from './helpers.ts';

const engine = Handlebars.create();
engine.registerHelper(helpers);

/**
 * Renders a plan into files, in the order of the plan.
 *
 * @throws Error that names the file if a template is missing, a context lacks a value, or JSON output is invalid.
 */
export function render(planned: readonly PlannedFile[], templates: TemplateSet): FileSet {
  return new Map(planned.map((file) => [file.path, finish(file, templates)]));
}

function finish(file: PlannedFile, templates: TemplateSet): ProjectFile {
  const template = templates.get(file.template);
  if (!template) throw new Error(`there is no template ${file.template}`);
  const content = file.context ? rendered(file.path, file.template, template, file.context) : template;
  return { content, owner: file.owner };
}

function rendered(path: string, name: string, template: Uint8Array, context: object): Uint8Array {
  const text = renderTemplate(name, new TextDecoder().decode(template), context);
  if (path.endsWith('.json')) parseJson(path, text);
  return new TextEncoder().encode(text);
}

function parseJson(path: string, text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not JSON after rendering`, { cause: error });
  }
}

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
