import { Ajv, type Options, type ValidateFunction } from 'ajv';
import ajvFormats from 'ajv-formats';
import { settings } from './ajv.ts';
import { compileOnce, compileUnchecked, mayBeEndless } from './compile.ts';
import { cachedByObject } from './json.ts';
import { aloneName, propertyAlone } from './keywords.ts';
import { guardSchemaWork, mismatchesIn } from './schema.ts';
import type { Json, JsonObject, Mismatch } from './value.ts';

// The package is CommonJS: its types describe the namespace, but Node imports the function.
const addFormats = ajvFormats as unknown as typeof ajvFormats.default;

/** As the MCP SDK's client validates: with formats (ajv-formats, full mode), ignoring unknown formats. */
const clientSettings: Options = {
  ...settings,
  validateFormats: true,
  validateSchema: false,
  meta: false,
};

let clientAjv: Ajv | undefined;

/**
 * The mismatches between a value and a schema for strict clients, which check formats. None if the schema does not
 * compile: that is a separate error.
 *
 * @param root prefix of the reported paths
 */
export function clientMismatches(schema: JsonObject, value: unknown, root: string): readonly Mismatch[] {
  try {
    return guardSchemaWork(schema, () => {
      const validate = compiled(schema);
      if (validate(value)) return [];
      return mismatchesIn(validate, value, root);
    });
  } catch {
    return [{ path: root, expected: 'a schema that can be validated quickly', actual: 'one that cannot' }];
  }
}

/** Whether a value matches a schema inside another one, and its references into that one. */
export function matchesWithin(root: JsonObject, schema: JsonObject, value: Json): boolean {
  // The schema contains no reference and no keyword for the root, so it is compiled once, separately, and shared by all callers.
  if (!JSON.stringify(schema).includes('"$')) return clientMismatches(schema, value, '').length === 0;
  const objectSchema = { ...propertyAlone(root, aloneName, schema), required: [aloneName] };
  return clientMismatches(objectSchema, { [aloneName]: value }, '').length === 0;
}

const compiled = cachedByObject((schema: JsonObject): ValidateFunction => {
  const text = JSON.stringify(schema);
  if (!text.includes('"format":')) return compileUnchecked(schema, text); // then formats make no difference
  // An interrupted compilation leaves a half-compiled schema, and two schemas may have the same id.
  const isAlone = mayBeEndless(text) || text.includes('"$id"');
  return compileOnce(`formats ${text}`, schema, isAlone ? fresh : shared);
});

function shared(): Ajv {
  clientAjv ??= fresh();
  return clientAjv;
}

function fresh(): Ajv {
  const ajv = new Ajv(clientSettings);
  addFormats(ajv);
  return ajv;
}
