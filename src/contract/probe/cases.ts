import type { JsonObject, ToolExample } from '../model.ts';
import type { PlatformProfile } from '../profile.ts';
import { isObject, tryCompile } from '../schema.ts';
import { sampleArguments } from '../smoke.ts';

/** A call to be made. */
export interface CallCase {
  readonly tool: JsonObject;
  readonly name: string;
  readonly arguments: JsonObject;
  /** What the author foretells; absent on the arguments of the submission test. */
  readonly expect?: ToolExample['expect'];
}

/** The examples of each tool, and the submission test's arguments where no example has the same. */
export function casesOf(
  tools: readonly JsonObject[],
  examples: ReadonlyMap<string, readonly ToolExample[]> = new Map(),
  smoke: PlatformProfile['smoke'],
): readonly CallCase[] {
  return tools.flatMap((tool) => {
    const { name } = tool;
    if (typeof name !== 'string') return [];
    const foretold: CallCase[] = (examples.get(name) ?? []).map((example) => ({ tool, name, ...example }));
    const sample = sampleArguments(objectOr(tool.inputSchema), smoke);
    const known = foretold.some((one) => JSON.stringify(one.arguments) === JSON.stringify(sample));
    return known ? foretold : [...foretold, { tool, name, arguments: sample }];
  });
}

/** The tool's outputSchema where it can be validated against. */
export function outputSchemaOf({ outputSchema }: JsonObject): JsonObject | undefined {
  return isObject(outputSchema) && tryCompile(outputSchema).ok ? outputSchema : undefined;
}

function objectOr(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
