import { isObject, objectOr, withoutPrototype } from '../json/json.ts';
import { mismatches, tryCompile, withoutDialect } from '../json/schema.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { ToolExample } from '../model.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { sampleArguments } from '../platforms/sample-arguments.ts';
import type { Target } from '../target.ts';

/** A call to make. */
export interface CallCase {
  readonly tool: JsonObject;
  readonly name: string;
  readonly arguments: JsonObject;
  /** What the author expects. */
  readonly expect?: ToolExample['expect'];
  /** Set if the arguments do not match the inputSchema. */
  readonly isInvalid?: true;
}

/**
 * The calls of each tool: its examples, the arguments of the submission test, and one call with an argument of the wrong type, which
 * shows a failure. A tool that `writing` says runs does not get the arguments of the submission test: only a server that
 * validates arguments refuses the wrong type before the tool runs.
 */
export function toolCases(
  tools: readonly JsonObject[],
  examples: ReadonlyMap<string, readonly ToolExample[]> = new Map(),
  smoke: PlatformProfile['smoke'],
  writing: Target['writing'] = new Map(),
): readonly CallCase[] {
  return tools.flatMap((tool) => {
    const { name } = tool;
    if (typeof name !== 'string') return [];
    const schema = inputSchemaOf(tool);
    const cases: CallCase[] = (examples.get(name) ?? []).map((example) => ({ tool, name, ...example }));
    const sample = sampleArguments(schema, smoke);
    const invalid = invalidVariants(schema, cases[0]?.arguments ?? sample, 1);
    const isExample = cases.some((example) => JSON.stringify(example.arguments) === JSON.stringify(sample));
    if (!isExample && writing.get(name) !== 'runs') cases.push({ tool, name, arguments: sample });
    for (const args of invalid) cases.push({ tool, name, arguments: args, isInvalid: true });
    return cases;
  });
}

/** The tool's inputSchema, empty if it has none. */
export function inputSchemaOf({ inputSchema }: JsonObject): JsonObject {
  return objectOr(inputSchema);
}

/** Whether an inputSchema allows these arguments. */
export function allowsArguments(inputSchema: JsonObject, args: JsonObject): boolean {
  return mismatches(withoutDialect(inputSchema), withoutPrototype(args), '').length === 0;
}

/** Limits the invalid variants of one tool's arguments: a schema may have thousands of parameters. */
export const maxInvalidVariants = 20;

/** Valid arguments, with each of the first parameters in turn replaced by an invalid value. */
export function invalidVariants(
  inputSchema: JsonObject,
  valid: JsonObject,
  maxVariants = maxInvalidVariants,
): readonly JsonObject[] {
  const found: JsonObject[] = [];
  for (const name of Object.keys(objectOr(inputSchema.properties)).slice(0, maxInvalidVariants)) {
    if (found.length === maxVariants) break;
    const invalid = wrongValues
      .map((value) => ({ ...valid, [name]: value }))
      .find((changed) => !allowsArguments(inputSchema, changed));
    if (invalid) found.push(invalid);
  }
  return found;
}

/** Each type of parameter refuses at least one of these; the object last, since defaults may complete what it lacks. */
const wrongValues: readonly Json[] = ['wrong type', -0.5, [null], null, { isInvalid: ['type'] }];

/** Arguments that the inputSchema of a tool refuses, so that the tool does nothing; undefined if it refuses none. */
export function refusedArguments(tool: JsonObject): JsonObject | undefined {
  const schema = inputSchemaOf(tool);
  const undeclared = { 'no such argument 4kx': true };
  return [{}, ...invalidVariants(schema, {}, 1), undeclared].find((args) => !allowsArguments(schema, args));
}

/** The tool's outputSchema, if it can be used for validation. */
export function listedOutputSchema({ outputSchema }: JsonObject): JsonObject | undefined {
  if (isObject(outputSchema) && tryCompile(outputSchema).ok) return outputSchema;
  return undefined;
}
