import type { Json, JsonObject } from '../contract/model.ts';
import { isObject } from '../contract/schema.ts';
import { propertiesOf, requiredOf } from './mending.ts';
import { wordsOf } from './sample-scalar.ts';

/** Words of parameters that shape an answer and do not select it. */
const shaping =
  /\b(limit|offset|page|cursor|size|per|top|count|max|min|sort|order|direction|threshold|lookback|verbose|format|lang|language|locale|include|fields|days|hours|periods|interval|timeframe|confidence|start|end|from|to|since|until|timeout|depth)\b/;
/** Words of parameters that name one thing. */
const naming =
  /\b(id|symbol|pair|ticker|chain|network|address|name|query|city|country|code|key|slug|url|domain|asset|token|coin|wallet|account|user|username|email|hash|isbn|title|term|topic|category|exchange|place|location)$/;

/**
 * The scalar parameter that selects a sample answer: rather a required text that names something than an option;
 * null where none selects.
 */
export function keyParameterOf(inputSchema: JsonObject, outputSchema: JsonObject): string | null {
  const required = new Set(requiredOf(inputSchema));
  const echoed = new Set(propertiesOf(outputSchema).map(([name]) => name));
  const candidates = propertiesOf(inputSchema)
    .map(([name, property]) => ({
      name,
      weight: weightOf(name, property, required.has(name), echoed.has(name)),
    }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
  return candidates[0]?.name ?? null;
}

function weightOf(name: string, property: JsonObject, required: boolean, echoed: boolean): number {
  const said = wordsOf(name).join(' ');
  const isText = property.type === 'string';
  const isNumber = property.type === 'number' || property.type === 'integer';
  const names = naming.test(said);
  if (!isText && !(isNumber && (names || Array.isArray(property.enum)))) return 0;
  return (
    1 +
    (isText ? 2 : 0) +
    (required ? 4 : 0) +
    (echoed ? 4 : 0) +
    (names ? 3 : 0) -
    (shaping.test(said) ? (isText ? 2 : 8) : 0)
  );
}

/** The values an author gave a parameter. */
export function givenValues(property: Json | undefined): readonly Json[] {
  if (!isObject(property)) return [];
  const { default: fallback, examples, enum: allowed } = property;
  const lists = [fallback === undefined ? [] : [fallback], examples ?? [], allowed ?? []];
  return [...new Set(lists.flat() as readonly Json[])];
}
