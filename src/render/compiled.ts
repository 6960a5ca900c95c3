import { precompile } from './compile.ts';

/**
 * Compiles a template. The build replaces this module by one with all templates compiled, so the
 * package needs no compiler.
 *
 * @param _name path of the template below `templates/`.
 * @throws Error if the template is invalid.
 */
export function compiled(_name: string, source: string): TemplateSpecification {
  return new Function(`return ${precompile(source)}`)();
}
