import { isObject } from '../../packages/contract/src/json/json.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';

/**
 * Whether an operation has a JSON answer of success with properties or items in its schema or a subschema.
 * Determined here independently of the code that is measured.
 */
export function hasTypedAnswer(root: JsonObject, operation: JsonObject): boolean {
  const responses = isObject(operation.responses) ? operation.responses : {};
  // 204 and 205 have no content, whatever a document says.
  const successes = Object.keys(responses).filter((status) => /^2(?!0[45])/.test(status));
  return successes.some((status) => {
    const response = followed(root, responses[status]);
    const content = isObject(response) && isObject(response.content) ? response.content : {};
    return Object.entries(content).some(
      ([type, media]) =>
        (/[/+]json/i.test(type) || type === '*/*') && isObject(media) && isTyped(root, media.schema, 0),
    );
  });
}

function isTyped(root: JsonObject, given: Json | undefined, depth: number): boolean {
  const schema = followed(root, given);
  if (!isObject(schema) || depth > 8) return false;
  if (isObject(schema.properties) && Object.keys(schema.properties).length > 0) return true;
  if (schema.items !== undefined) return true;
  return ['allOf', 'oneOf', 'anyOf'].some((keyword) => {
    const parts = schema[keyword];
    return Array.isArray(parts) && (parts as Json[]).some((part) => isTyped(root, part, depth + 1));
  });
}

function followed(root: JsonObject, value: Json | undefined): Json | undefined {
  let at = value;
  for (let hops = 0; hops < 20 && isObject(at) && typeof at.$ref === 'string'; hops += 1) {
    const steps = at.$ref.slice(2).split('/');
    at = steps.reduce<Json | undefined>(
      (parent, step) =>
        isObject(parent)
          ? parent[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')]
          : undefined,
      root,
    );
  }
  return at;
}
