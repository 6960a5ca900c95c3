/** JSON values and JSON Schemas: reading, walking, comparing and validating them, within limits. */
export { lazyValidator } from './ajv.ts';
export { attempt } from './attempt.ts';
export { isBlank } from './blank.ts';
export { runWithTimeLimit, taskTimeLimitMs } from './bounded.ts';
export { compileSchema } from './compile.ts';
export { grouped } from './grouped.ts';
export {
  cachedByObject,
  groupBy,
  isObject,
  isWalkable,
  objectOr,
  parseJsonText,
  present,
  shorten,
  textOr,
  visibleJson,
} from './json.ts';
export { aloneName, membersOf, propertiesOf, propertyAlone, requiredOf, typesOf } from './keywords.ts';
export { limits, openApiLimits } from './limits.ts';
export { clientMismatches, matchesWithin } from './match.ts';
export { memoize } from './memoize.ts';
export { boundFor, patternFlaw } from './pattern.ts';
export { literallyIn, readJson, withLargeIntegersAsText, withNumbers, writeLiterally } from './read-json.ts';
export { childPointer, mismatches, mismatchesIn, pointerSegments, tryCompile, valueAt } from './schema.ts';
export type { Json, JsonObject } from './value.ts';
export { bounds, isReadable, listed, mapsOfSchemas, schemasIn, single } from './walk.ts';
