import type { ValidateFunction } from 'ajv';
import { compileSchema } from '../../contract/compile.ts';
import type { JsonObject } from '../../contract/model.ts';
import { blankAnswer } from '../../contract/outcomes.ts';
import { problemsOf } from '../../contract/schema.ts';
import type { Tool } from './define-tool.ts';

/** A tool and all that its calls need and that follows from its schemas. */
export interface CompiledTool {
  readonly tool: Tool;
  /** Fills in the defaults of absent arguments. */
  readonly validateInput: ValidateFunction;
  readonly validateOutput: ValidateFunction;
  /** The members that an answer without data must have; null where the outputSchema cannot hold such an answer. */
  readonly blank: JsonObject | null;
}

const compiled = new WeakMap<Tool, CompiledTool>();

/**
 * Compiles a tool's schemas, once per tool.
 *
 * @throws Error that names the tool and the schema that does not compile.
 */
export function compileTool(tool: Tool): CompiledTool {
  const known = compiled.get(tool);
  if (known) return known;
  const blank = blankAnswer(tool.outputSchema);
  const fresh: CompiledTool = {
    tool,
    validateInput: compilePart(tool, 'inputSchema', true),
    validateOutput: compilePart(tool, 'outputSchema', false),
    blank: blank.ok ? blank.answer : null,
  };
  compiled.set(tool, fresh);
  return fresh;
}

const mostProblems = 5;

/**
 * How a value differs from its schema, in words, the first few differences; null where it does not.
 *
 * @param root the value's name in paths, `arguments`
 */
export function misfit(validate: ValidateFunction, value: unknown, root: string): string | null {
  try {
    if (validate(value)) return null;
    validate.errors?.splice(mostProblems);
    return problemsOf(validate, value, root)
      .map(({ path, expected, actual }) => `${path}: expected ${expected}, got ${actual}`)
      .join('; ');
  } catch (error) {
    if (error instanceof RangeError) return `${root}: nested too deeply`;
    return `${root}: cannot be compared with its schema (${(error as Error).message})`;
  }
}

function compilePart(
  tool: Tool,
  part: 'inputSchema' | 'outputSchema',
  useDefaults: boolean,
): ValidateFunction {
  try {
    return compileSchema(tool[part], { useDefaults });
  } catch (error) {
    throw new Error(`Tool ${tool.name}: its ${part} does not compile: ${(error as Error).message}`);
  }
}
