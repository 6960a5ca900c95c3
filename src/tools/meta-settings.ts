import { combineResults, pass, type Result, reject } from 'market-mcp-contract/command';
import {
  isObject,
  type Json,
  type JsonObject,
  parseJsonText,
  typesOf,
  withLargeIntegersAsText,
} from 'market-mcp-contract/json';

/** One value of a tool's `_meta` from a flag: `pricing.executeUsd=0.01`. */
export interface MetaSetting {
  /** `['pricing', 'executeUsd']` */
  readonly path: readonly string[];
  readonly text: string;
}

const setting = /^([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)=(.*)$/s;

/** Parses settings. Each path may be set once, and no path inside another. */
export function parseMeta(texts: readonly string[], location: string): Result<readonly MetaSetting[]> {
  const settings = combineResults(texts.map((text) => parseSetting(text, location)));
  if (!settings.ok) return settings;
  const paths = settings.value.map(({ path }) => `${path.join('.')}.`);
  const clash = paths.findIndex((path, i) =>
    paths.some((otherPath, j) => j < i && (path.startsWith(otherPath) || otherPath.startsWith(path))),
  );
  if (clash < 0) return settings;
  return reject(location, texts[clash], 'sets a value that is already set', 'Set each value only once.');
}

export function formatMeta({ path, text }: MetaSetting): string {
  return `${path.join('.')}=${text}`;
}

/**
 * The `_meta` of settings. A platform's schema decides how a text is parsed: `0.01` is a string if the schema requires it;
 * a list is `a|b`. Without a schema, JSON is parsed as JSON. The rules check whether the values are valid.
 *
 * @param toolMeta as `PlatformProfile.toolMeta`
 */
export function metaFromSettings(settings: readonly MetaSetting[], toolMeta: JsonObject | null): JsonObject {
  return settings.reduce<JsonObject>(
    (meta, { path, text }) =>
      withMetaValue(meta, path, parseSettingText(text, schemaAt(toolMeta ?? {}, path))),
    {},
  );
}

/**
 * The `_meta` of a tool that changes something: a platform that knows these members must not call it to answer a question.
 * It is offered for execution if it has a price for that. The author's statements are kept.
 */
export function metaForWrites(meta: JsonObject, toolMeta: JsonObject | null): JsonObject {
  const properties = toolMeta?.properties;
  const isKnown = isObject(properties) && isObject(properties.queryEligible) && isObject(properties.surface);
  const { surface, pricing } = meta;
  if (!isKnown || (surface !== undefined && surface !== 'execute')) return meta;
  const hasPrice = isObject(pricing) && pricing.executeUsd !== undefined;
  return { ...(hasPrice && { surface: 'execute' }), queryEligible: false, ...meta };
}

function parseSetting(text: string, location: string): Result<MetaSetting> {
  const [, path, value] = setting.exec(text.trim()) ?? [];
  const hint = "Write 'surface=answer' or 'rateLimit.maxRequestsPerMinute=60'.";
  if (path === undefined || value === undefined) {
    return reject(location, text, 'is not a setting of the form name=value', hint);
  }
  const names = path.split('.');
  if (names.includes('__proto__'))
    return reject(location, text, '__proto__ cannot be a key of an object', hint);
  return pass({ path: names, text: value });
}

function withMetaValue(meta: JsonObject, [name = '', ...rest]: readonly string[], value: Json): JsonObject {
  if (rest.length === 0) return { ...meta, [name]: value };
  const member = Object.hasOwn(meta, name) ? meta[name] : undefined;
  const inner = isObject(member) ? member : {};
  return { ...meta, [name]: withMetaValue(inner, rest, value) };
}

function schemaAt(schema: JsonObject, path: readonly string[]): JsonObject {
  return path.reduce<JsonObject>((at, name) => {
    const { properties } = at;
    const member = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (isObject(member)) return member;
    return {};
  }, schema);
}

function parseSettingText(text: string, schema: JsonObject): Json {
  const types = typesOf(schema);
  if (types.includes('string') || (types.length === 0 && Array.isArray(schema.enum))) return text;
  if (types.includes('array') && !text.startsWith('[')) {
    const items = isObject(schema.items) ? schema.items : {};
    return text.split('|').map((item) => parseSettingText(item, items));
  }
  const [value = text] = parseJsonText(withLargeIntegersAsText(text).text);
  return value;
}
