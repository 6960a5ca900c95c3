import { isJwt, isKeyName, uriDecoded } from 'market-mcp-contract/command';
import { isObject, type Json } from 'market-mcp-contract/json';
import type { Field, Shape } from '../../model/tool-model.ts';
import { inputDescription, singular } from '../describe.ts';
import type { ApiBody, ApiKey, ApiVariable, Binding, BoundValue } from '../imported-tool.ts';
import { isFormType } from '../media-type.ts';
import { freeInputName } from '../openapi/parameters.ts';
import { isKeyValue, keyBelow, placeholderIn } from '../recognize-keys.ts';
import type { AuthorRequest, NameValue } from './author-request.ts';
import { userTextPath } from './conversation.ts';
import { type ExactJson, type ExactObject, integerPaths, withDigits } from './exact-body.ts';
import { droppedHeaders } from './headers.ts';
import { idKind, mayBeValue, type SegmentInput, type SegmentKind, segmentKind } from './path-segments.ts';
import type { Protocol } from './protocols.ts';
import type { RequestBody } from './request-body.ts';
import { KeyCollector } from './request-keys.ts';
import { RequestRefusal } from './request-refusal.ts';
import { graphqlShape, scalarOf, shapeForValue, styleLike } from './request-values.ts';

type Place = 'path' | 'query' | 'header' | 'body';

const anyText: Shape = { type: 'string' };

/** One segment of a path. */
interface PathSegment {
  /** The name that the author gave it: `{symbol=BTC}` in the URL, or `--segment symbol=BTC`. */
  readonly chosenName: string | undefined;
  /** The name of a placeholder with a colon: `:id`. */
  readonly colonName: string | undefined;
  readonly isPlaceholder: boolean;
  /** The value as the request has it, without the name and the extension. */
  readonly raw: string;
  /** The decoded value. */
  readonly text: string;
  readonly extension: string;
  /** Undefined if the value looks like a constant. */
  readonly kind: SegmentKind | undefined;
  /** The segment before it, as the request has it. */
  readonly previous: string;
}

/** A value of the request that becomes an argument of the tool. */
interface ArgumentSource {
  /** The API's name. */
  readonly name: string;
  /** By default, the API's name. */
  readonly argumentName?: string;
  readonly place: Place;
  /** Undefined if the request has only a placeholder. */
  readonly value: Json | undefined;
  readonly shape?: Shape | undefined;
  readonly isOptional?: boolean;
}

/** Where a member of a JSON body is. */
interface MemberPosition {
  readonly protocol: Protocol | undefined;
  /** The member of the root that contains it; undefined at the root. */
  readonly container?: string;
  /** The container is a list of parameters without names. */
  readonly isPositional?: boolean;
}

/** Binds the parts of a request: each value becomes an argument of the tool, a constant or a key. */
export class RequestBinder {
  readonly fields: Field[] = [];
  /** Names of the arguments, also of those that stay constant. */
  readonly argumentNames = new Set<string>();
  readonly keys: KeyCollector;
  /** What the tool sends otherwise than the request, or not at all, and why. */
  readonly notes: { readonly path: string; readonly what: string; readonly why: string }[] = [];
  /** Arguments made from path segments by a guess. */
  readonly guessedInputs: string[] = [];
  /** Segments of the path that stay constant although they may be values, each with a name for its argument. */
  readonly constantSegments: SegmentInput[] = [];
  readonly #request: AuthorRequest;
  readonly #constants: ReadonlySet<string>;
  /** The segments that the author named. Each is removed when the path has it. */
  readonly #unmatchedSegments: Set<SegmentInput>;
  #path = '';

  /**
   * @param choice names of arguments that stay constant, and segments of the path that become arguments
   * @param projectVariables addresses and keys that the project has
   */
  constructor(
    api: { readonly prefix: string; readonly title: string },
    request: AuthorRequest,
    choice: { readonly constants: readonly string[]; readonly segments?: readonly SegmentInput[] },
    projectVariables: readonly ApiVariable[],
  ) {
    this.keys = new KeyCollector(api, request, projectVariables);
    this.#request = request;
    this.#constants = new Set(choice.constants);
    this.#unmatchedSegments = new Set(choice.segments);
  }

  /** The segments that the author named, and that the path does not have. */
  get unknownSegments(): readonly SegmentInput[] {
    return [...this.#unmatchedSegments];
  }

  /** Whether a text is a placeholder. Call it only for what is no key. */
  #isPlaceholder(text: string): boolean {
    const { shellVariables } = this.#request;
    const variable = shellVariables === null ? undefined : placeholderIn(text);
    if (variable === undefined) return false;
    const isUnnamed = variable === '';
    return isUnnamed || shellVariables?.has(variable) === true;
  }

  #isKey(position: Pick<ApiKey, 'in' | 'name'>, text: string): boolean {
    const place = position.in === 'headers' ? 'header' : position.in;
    return isKeyValue(position.name, text, place) || this.keys.isOwnVariable(position, text);
  }

  /** Matches a scheme of any name before a placeholder: `DeepL-Auth-Key [yourAuthKey]`. */
  #placeholderBehindScheme(name: string, value: string): RegExpExecArray | null {
    if (name !== 'authorization' && !isKeyName(name)) return null;
    const match = /^([a-z][\w-]*) +(\S.*)$/i.exec(value);
    if (match && this.keys.variableIn(match[2] ?? '') === undefined) return null;
    return match;
  }

  /** Returns the path with the names of its arguments in braces, and their bindings. */
  bindPath(pathText: string): { readonly path: string; readonly params: readonly Binding[] } {
    const params: Binding[] = [];
    const segments = pathText.split('/');
    const path = segments.map((raw, i) => this.#bindSegment(raw, segments.slice(0, i), params));
    this.#path = path.join('/');
    return { path: this.#path, params };
  }

  #bindSegment(raw: string, precedingSegments: readonly string[], params: Binding[]): string {
    const preceding = precedingSegments.map(uriDecoded);
    const segment = this.#parseSegment(raw, precedingSegments.at(-1) ?? '', preceding);
    const { chosenName, isPlaceholder, kind, text, extension } = segment;
    if (chosenName === undefined) requireNoKeySegment(segment);
    if (chosenName === undefined && kind === undefined && !isPlaceholder) {
      if (mayBeValue(text, preceding))
        this.constantSegments.push({ name: valueName('symbol', segment.previous), value: text });
      return raw.replaceAll('{', '%7B').replaceAll('}', '%7D');
    }
    const name = argumentNameOfSegment(segment);
    this.#path = `${precedingSegments.join('/')}/{${name}}`;
    const value = valueOfSegment(segment);
    const shape = value === undefined ? anyText : shapeForValue(value);
    const { input } = this.#bindArgument({ name, place: 'path', value, shape });
    if (input === undefined) return segment.raw + extension;
    if (chosenName === undefined && !isPlaceholder) {
      this.guessedInputs.push(input);
      this.notes.push({
        path: `inputSchema.properties.${input}`,
        what: `${segment.raw} in the path became an argument`,
        why: `--constant ${input} keeps it`,
      });
    }
    params.push({ name: input, input });
    return `{${input}}${extension}`;
  }

  #parseSegment(raw: string, previous: string, preceding: readonly string[]): PathSegment {
    const [, bracedName, bracedValue] = /^\{([A-Za-z]\w*)=([^{}]+)\}$/.exec(raw) ?? [];
    const chosenName = bracedName ?? this.#takeSegmentName(uriDecoded(raw));
    let value = bracedValue ?? raw;
    let extension = '';
    if (chosenName === undefined && raw.endsWith('.json')) {
      value = raw.slice(0, -'.json'.length);
      extension = '.json';
    }
    const text = uriDecoded(value);
    const [, colonName] = /^:([A-Za-z]\w*)$/.exec(text) ?? [];
    const isPlaceholder = colonName !== undefined || this.#isPlaceholder(text);
    const kind = segmentKind(text, preceding);
    return { chosenName, colonName, isPlaceholder, raw: value, text, extension, kind, previous };
  }

  /** Returns the name that `--segment` gives to a segment. Each such name counts for one segment. */
  #takeSegmentName(segment: string): string | undefined {
    const segmentInput = [...this.#unmatchedSegments].find(({ value }) => value === segment);
    if (segmentInput) this.#unmatchedSegments.delete(segmentInput);
    return segmentInput?.name;
  }

  bindQuery(text: string): readonly Binding[] {
    return this.#bindEncodedPairs(text, 'query');
  }

  bindHeaders(requestHeaders: readonly NameValue[]): Binding[] {
    const droppedNames = droppedHeaders(requestHeaders);
    const bindings = requestHeaders.flatMap(([name, value]): readonly Binding[] => {
      // market-mcp-runtime/source sends Accept: application/json, and the type of the body.
      const isUsual = name === 'accept' && /^(?:\*\/\*|application\/json)$/.test(value);
      if (droppedNames.has(name) || isUsual || name === 'content-type') return [];
      const [, scheme = '', token = ''] =
        /^(Basic|Bearer|Token|Bot|ApiKey|Key) +(\S.*)$/i.exec(value) ??
        /^([a-z][\w-]*) +([$%]\S+)$/i.exec(value) ??
        this.#placeholderBehindScheme(name, value) ??
        [];
      const withoutScheme = token || value;
      const hasUnnamedKey = scheme !== '' && this.keys.variableIn(withoutScheme) === null;
      if (name === 'authorization' || hasUnnamedKey || this.#isKey({ in: 'headers', name }, withoutScheme)) {
        this.keys.addHeader(name, scheme, withoutScheme);
        return [];
      }
      if (!this.#isPlaceholder(value)) return [{ name, constant: value }];
      return [this.#bindArgument({ name, place: 'header', value: undefined })];
    });
    if (droppedNames.size > 0) {
      const verb = droppedNames.size === 1 ? 'is' : 'are';
      const text = `${[...droppedNames].join(', ')} ${verb} not sent`;
      const reason = 'a browser adds them; an API that needs one answers with 401 or 403';
      this.notes.push({ path: 'headers', what: text, why: reason });
    }
    return bindings;
  }

  /** The body of a request, with the media type that it has. */
  bindBody(content: RequestBody | null, type: string, protocol: Protocol | undefined): ApiBody | null {
    if (content === null) return null;
    const { kind } = content;
    if (kind === 'multipart') return { kind, content: { members: this.#bindPairs(content.parts, 'body') } };
    const usualType = {
      json: 'application/json',
      form: 'application/x-www-form-urlencoded',
      text: 'text/plain',
    }[kind];
    const mediaTypeMember = type === '' || type === usualType ? {} : { mediaType: type };
    if (kind === 'form')
      return { kind, content: { members: this.#bindEncodedPairs(content.text, 'body') }, ...mediaTypeMember };
    if (kind === 'json') {
      if (isFormType(type)) this.notes.push(jsonAsForm);
      return { ...this.#bindJson(content.value, protocol), ...mediaTypeMember };
    }
    requireNoKey(content.text, 'body');
    const { name: _, ...value } = this.#bindArgument({ name: 'body', place: 'body', value: content.text });
    return { kind, content: value, ...mediaTypeMember };
  }

  #bindJson(json: ExactObject | readonly ExactJson[], protocol: Protocol | undefined): ApiBody {
    const integers = integerPaths(json);
    const content = Array.isArray(json)
      ? this.#bindList(json)
      : this.#bindObject(json as ExactObject, protocol);
    return { kind: 'json', content, ...(integers.length > 0 && { integers }) };
  }

  /**
   * A list of scalars of one type becomes one argument. In a list of one object, its members become arguments. Any other list is
   * constant.
   */
  #bindList(items: readonly ExactJson[]): BoundValue {
    requireNoKeyBelow(items, 'body');
    const [first, ...otherItems] = items;
    if (isObject(first) && otherItems.length === 0) {
      const members = Object.entries(first as ExactObject).flatMap(([name, value]) =>
        this.#bindMember(name, value, { protocol: undefined, container: '0' }),
      );
      return { members: [{ name: '0', members }], isList: true };
    }
    const shape = shapeForValue(items);
    const value = withDigits(items);
    if (shape === undefined) return { constant: value };
    const { name: _, ...boundValue } = this.#bindArgument({ name: 'body', place: 'body', value, shape });
    return boundValue;
  }

  #bindObject(json: ExactObject, protocol: Protocol | undefined): BoundValue {
    const [conversationMember, ...pathInside] = userTextPath(json) ?? [];
    const members = Object.entries(withAllVariables(json, protocol)).flatMap(([name, value]) => {
      if (protocol !== undefined && protocolMembers.includes(name))
        return [{ name, constant: withDigits(value) }];
      if (typeof value !== 'string') requireNoKeyBelow(value, name);
      if (name === conversationMember) return [this.#bindTextAt(name, value, pathInside)];
      return this.#bindRootMember(name, value, protocol);
    });
    return { members };
  }

  /** Binds the members of an object, or the parameters of JSON-RPC; any other value as a whole. */
  #bindRootMember(name: string, value: ExactJson, protocol: Protocol | undefined): readonly Binding[] {
    const isPositional = protocol?.envelope === 'json-rpc' && name === 'params' && Array.isArray(value);
    if (!isObject(value) && !isPositional) return this.#bindMember(name, value, { protocol });
    const innerMembers = Object.entries(value as ExactObject);
    if (innerMembers.length === 0) return [{ name, constant: withDigits(value) }];
    const position: MemberPosition = { protocol, container: name, isPositional };
    const members = innerMembers.flatMap(([memberName, member]) =>
      this.#bindMember(memberName, member, position),
    );
    return [{ name, members, ...(isPositional && { isList: true as const }) }];
  }

  /** Binds the text at a path inside a value as an argument; the rest of the value is constant. */
  #bindTextAt(name: string, value: ExactJson, [step, ...steps]: readonly string[]): Binding {
    if (step === undefined) return this.#bindArgument({ name, place: 'body', value: withDigits(value) });
    const members = Object.entries(value as ExactObject).map(([memberName, member]) =>
      memberName === step
        ? this.#bindTextAt(memberName, member, steps)
        : { name: memberName, constant: withDigits(member) },
    );
    return { name, members, ...(Array.isArray(value) && { isList: true as const }) };
  }

  #bindMember(name: string, value: ExactJson, position: MemberPosition): readonly Binding[] {
    const { protocol, container, isPositional = false } = position;
    const isText = typeof value === 'string';
    if (isText && container === undefined && this.#isKey({ in: 'body', name }, value)) {
      this.keys.add({ in: 'body', name, kind: 'plain' }, value);
      return [];
    }
    const variableType = container === 'variables' ? protocol?.types.get(name) : undefined;
    const isPlaceholder = isText && this.#isPlaceholder(value);
    const isMissing = value === null && variableType !== undefined;
    const valueShape = isPlaceholder ? anyText : shapeForValue(value);
    const shape = variableType === undefined ? valueShape : graphqlShape(variableType.type, value);
    if (shape === undefined || isConstantShape(shape, position))
      return [{ name, constant: withDigits(value) }];
    const argument = this.#bindArgument({
      name,
      argumentName: isPositional ? positionName(value, Number(name)) : name,
      place: 'body',
      value: isPlaceholder || isMissing ? undefined : withDigits(value),
      shape,
      isOptional: isMissing && (variableType.hasDefault || !variableType.type.endsWith('!')),
    });
    return [argument];
  }

  /** The pairs of an encoded query or form. */
  #bindEncodedPairs(text: string, place: 'query' | 'body'): readonly Binding[] {
    const pairs = text
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair): NameValue => {
        const at = pair.indexOf('=');
        if (at < 0) return [pair, ''];
        return [pair.slice(0, at), pair.slice(at + 1)];
      });
    return this.#bindPairs(pairs, place, (text) => uriDecoded(text.replaceAll('+', ' ')));
  }

  /** Pairs of names and values; names that repeat are a list. */
  #bindPairs(
    pairs: readonly NameValue[],
    place: 'query' | 'body',
    decode?: (text: string) => string,
  ): readonly Binding[] {
    const decodeText = (text: string) => decode?.(text) ?? text;
    const rawNames = [...new Set(pairs.map(([name]) => name))];
    return rawNames.flatMap((raw): readonly Binding[] => {
      const values = pairs.filter(([name]) => name === raw).map(([, value]) => value);
      const [first = '', ...otherValues] = values;
      const name = decodeText(raw);
      if (otherValues.length === 0)
        return this.#bindPair(name, decodeText(first), first, place, decode !== undefined);
      const texts = values.map(decodeText);
      if (texts.some((text) => this.#isKey({ in: place, name }, text)))
        throw new RequestRefusal(`has several values for the key ${name}`, 'Remove all but one.');
      const list: Shape = { type: 'array', items: anyText };
      const style = decode ? ({ style: 'form' } as const) : {};
      return [{ ...this.#bindArgument({ name, place, value: texts, shape: list }), ...style }];
    });
  }

  #bindPair(
    name: string,
    text: string,
    raw: string,
    place: 'query' | 'body',
    isStyled: boolean,
  ): readonly Binding[] {
    if (this.#isKey({ in: place, name }, text)) {
      this.keys.add({ in: place, name, kind: 'plain' }, text);
      return [];
    }
    const value = this.#isPlaceholder(text) ? undefined : scalarOf(text);
    let shape: Shape | undefined = anyText;
    if (value !== undefined) shape = isCoordinate(name, value) ? { type: 'number' } : shapeForValue(value);
    const style = isStyled ? styleLike(raw, text) : undefined;
    return [{ ...this.#bindArgument({ name, place, value, shape }), ...(style && { style }) }];
  }

  /** Returns a binding of an argument, or of a constant if the author keeps the value. */
  #bindArgument(source: ArgumentSource): Binding {
    const { name, argumentName = name, place, value, shape = anyText, isOptional = false } = source;
    const input = freeInputName(argumentName, place, (fieldName) =>
      this.fields.some((field) => field.name === fieldName),
    );
    this.argumentNames.add(input);
    if (value !== undefined && this.#constants.has(input)) return { name, constant: value };
    const { type, items } = shape;
    const description = inputDescription(
      argumentName,
      { type, ...(items && { items: { type: items.type } }) },
      this.#path,
    );
    this.fields.push({
      name: input,
      ...(!isOptional && { required: true }),
      ...shape,
      description,
      ...(value !== undefined && { default: value }),
    });
    return { name, input };
  }
}

/** @throws RequestRefusal for a segment that is a key, or a placeholder of one */
function requireNoKeySegment({ isPlaceholder, text, previous }: PathSegment): void {
  const isNamedKey = isPlaceholder && isKeyName(placeholderIn(text) ?? '');
  if (!isNamedKey && !isKeyValue(previous, text, 'path')) return;
  throw new RequestRefusal(
    'has what looks like a key in its path',
    'Give the key in a header, if the API takes it there. If it is none, write {id=…} for it.',
  );
}

function argumentNameOfSegment(segment: PathSegment): string {
  const { chosenName, colonName, isPlaceholder, kind, text, previous } = segment;
  if (chosenName !== undefined) return chosenName;
  const guessedName = valueName(kind ?? 'id', previous);
  if (!isPlaceholder) return guessedName;
  return colonName ?? (placeholderName(text) || guessedName);
}

/** The value of a segment: a number only for an id, or where the author named the argument. */
function valueOfSegment({ chosenName, isPlaceholder, kind, text }: PathSegment): Json | undefined {
  if (isPlaceholder) return undefined;
  if (kind === 'id' || chosenName !== undefined) return scalarOf(text);
  return text;
}

function isCoordinate(name: string, value: Json): boolean {
  return typeof value === 'number' && /^(?:lat|lng|lon|latitude|longitude)$/i.test(name);
}

/** The members that GraphQL and JSON-RPC define: every call sends them unchanged. */
const protocolMembers = ['jsonrpc', 'id', 'method', 'query', 'operationName', 'extensions'];

/** A body with all variables that its GraphQL operation requires; any other body unchanged. */
function withAllVariables(json: ExactObject, protocol: Protocol | undefined): ExactObject {
  if (protocol?.envelope !== 'graphql' || protocol.types.size === 0) return json;
  const variables = isObject(json.variables) ? json.variables : {};
  return { ...json, variables: withDeclaredVariables(variables, protocol) };
}

/** Inner objects stay constant, except GraphQL variables. So do lists among positional parameters. */
function isConstantShape({ type }: Shape, { protocol, isPositional = false }: MemberPosition): boolean {
  if (type === 'object') return protocol?.envelope !== 'graphql';
  return type === 'array' && isPositional;
}

/** @throws RequestRefusal for a key inside a value, where a tool cannot send one */
function requireNoKeyBelow(value: ExactJson, place: string): void {
  const keyPlace = keyBelow(value, place);
  if (keyPlace !== undefined)
    throw new RequestRefusal(`has a key in ${keyPlace}`, 'Only keys at the root of a body can be sent.');
}

/** The note about JSON that curl declares as a form, because the command names no media type. */
const jsonAsForm = {
  path: 'body',
  what: 'is JSON that is sent as application/x-www-form-urlencoded, as curl sends it',
  why: "if the API needs another type, add -H 'content-type: application/json'",
};

/** @throws RequestRefusal for a key in a text that is sent unchanged */
export function requireNoKey(text: string, place: 'query' | 'body'): void {
  const pairs = text.matchAll(/([\w.-]+)["']?\s*[=:>]\s*["']?([^\s"'&<>,;]+)/g);
  const isNamed = [...pairs].some(
    ([, name = '', value = '']) => isKeyName(name) && isKeyValue(name, value, place),
  );
  if (!isNamed && !text.split(/[\s&<>"',;]+/).some(isJwt)) return;
  throw new RequestRefusal(
    `has a key in a ${place} that is no list of name=value pairs`,
    'Write each pair as name=value, or give the key in a header if the API takes it there.',
  );
}

/** The variables of an operation with those that it declares and the request does not give. */
function withDeclaredVariables(variables: ExactObject, { types }: Protocol): ExactObject {
  const missing = [...types].filter(
    ([name, { hasDefault }]) => !Object.hasOwn(variables, name) && !hasDefault,
  );
  return { ...variables, ...Object.fromEntries(missing.map(([name]) => [name, null])) };
}

function positionName(value: ExactJson, index: number): string {
  if (typeof value === 'boolean') return 'full';
  if (typeof value !== 'string') return `param_${index + 1}`;
  if (/^(?:latest|earliest|pending|safe|finalized)$/.test(value)) return 'block';
  return idKind(value) ?? `param_${index + 1}`;
}

/** The name of a value in a path, by its kind and the segment before it: `coin_id`, `date`. */
function valueName(kind: SegmentKind, previousSegment: string): string {
  const resource = singular(previousSegment.replace(/[^A-Za-z0-9]+/g, '_'));
  if (kind === 'ip' || kind === 'date' || /^v?\d*$/.test(resource) || resource === kind) return kind;
  if (kind === 'symbol') return /^[a-z_]+$/.test(resource) ? resource : kind;
  return `${resource}_${kind}`;
}

/** `YOUR_CHAIN`, `<chain>`, `$CHAIN` → `chain`. */
function placeholderName(placeholder: string): string {
  return placeholder
    .replace(/^(?:your|my)[-_ ]/i, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase();
}
