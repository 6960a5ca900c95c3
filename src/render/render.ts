import type { FileSet, PlannedFile, ProjectFile, TemplateSet } from '../plan/model.ts';
import { renderTemplate } from './engine.ts';

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
