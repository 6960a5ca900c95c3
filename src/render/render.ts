import type Handlebars from 'handlebars';
import runtime from 'handlebars/runtime.js';
import type { FileSet, PlannedFile, ProjectFile, TemplateSet } from '../plan/planned-file.ts';
import { compileTemplate } from './compiled.ts';
import { helpers } from './helpers.ts';

// The package declares no types for the file of its runtime.
const engine = (runtime as unknown as typeof Handlebars).create();
engine.registerHelper(helpers);

/**
 * Renders a plan into files, in the order of the plan.
 *
 * @throws Error that names the file if a template is missing, a context lacks a value, or JSON output is invalid.
 */
export function render(planned: readonly PlannedFile[], templates: TemplateSet): FileSet {
  return new Map(planned.map((file) => [file.path, renderFile(file, templates)]));
}

function renderFile(file: PlannedFile, templates: TemplateSet): ProjectFile {
  // A compiled template is named `tool.ts.hbs.js`.
  const names = [file.template, `${file.template}.js`];
  for (const name of names) {
    const template = templates.get(name);
    if (template === undefined) continue;
    const content = file.context ? renderContent(file.path, name, template, file.context) : template;
    return { content, owner: file.owner };
  }
  throw new Error(`there is no template ${file.template}`);
}

function renderContent(path: string, name: string, template: Uint8Array, context: object): Uint8Array {
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
    return engine.template(compileTemplate(name, source))(context);
  } catch (error) {
    throw new Error(`template ${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
