import { precompile } from './compile.ts';

/**
 * A compiled template. The build puts a module in this one's place that holds all templates compiled, so that the
 * package needs no compiler.
 *
 * @param _name path of the template below `templates/`.
 * @throws Error where the template is invalid.
 */
export function compiled(_name: string, source: string): TemplateSpecification {
  return new Function(`return ${precompile(source)}`)();
}
