import { isJwt, isKeyName, uriDecoded } from 'market-mcp-contract/command';
import { isObject, type Json } from 'market-mcp-contract/json';
import type { Field, Shape } from '../../model/tool-model.ts';
import type { ApiBody, ApiKey, ApiVariable, Binding, BoundValue } from '../imported-tool.ts';
import { isKeyValue, keyBelow, placeholderIn } from '../key-placeholders.ts';
import { isFormType } from '../media-type.ts';
import { inputDescription, singular } from '../openapi/describe.ts';
import { freeInputName } from '../openapi/parameters.ts';
import { userTextPath } from './conversation.ts';
import { type ExactJson, type ExactObject, integerPaths, withDigits } from './exact-body.ts';
import type { GivenBody } from './given-body.ts';
import type { GivenRequest, NameValue } from './given-request.ts';
import { droppedHeaders } from './headers.ts';
import { idKind, mayBeValue, type SegmentInput, type SegmentKind, segmentKind } from './path-segments.ts';
import type { Protocol } from './protocols.ts';
import { KeyParts } from './request-keys.ts';
import { RequestRefusal } from './request-refusal.ts';
import { graphqlShape, scalarOf, shapeForValue, styleLike } from './request-values.ts';

type Place = 'path' | 'query' | 'header' | 'body';

const anyText: Shape = { type: 'string' };

/** Collects the parts of a request: arguments of the tool, constants and keys. */
export class Parts {
  readonly fields: Field[] = [];
  /** Names of the arguments, and of those that stay constant. */
  readonly names = new Set<string>();
  readonly keys: KeyParts;
  /** What was left out, and why. */
  readonly notes: { readonly path: string; readonly what: string; readonly why: string }[] = [];
  /** Arguments made from path segments by a guess. */
  readonly guessedInputs: string[] = [];
  /** Segments of the path that stay constant although they may be values, each with a name for its argument. */
  readonly constantSegments: SegmentInput[] = [];
  readonly #given: GivenRequest;
  readonly #constants: ReadonlySet<string>;
  /** Those of the author that no segment had yet. */
  readonly #segmentInputs: Set<SegmentInput>;
  #path = '';

  /**
   * @param choice names of arguments that stay constant, and segments of the path that become arguments
   * @param projectVariables addresses and keys that the project has
   */
  constructor(
    api: { readonly prefix: string; readonly title: string },
    givenRequest: GivenRequest,
    choice: { readonly constants: readonly string[]; readonly segments?: readonly SegmentInput[] },
    projectVariables: readonly ApiVariable[],
  ) {
    this.keys = new KeyParts(api, givenRequest, projectVariables);
    this.#given = givenRequest;
    this.#constants = new Set(choice.constants);
    this.#segmentInputs = new Set(choice.segments);
  }

  /** The segments that the author named, and that the path does not have. */
  get unknownSegments(): readonly SegmentInput[] {
    return [...this.#segmentInputs];
  }

  /** Whether a text where no key stands is a placeholder, so that the argument has no value. */
  #isOpen(text: string): boolean {
    const { variables } = this.#given;
    const variable = variables === null ? undefined : placeholderIn(text);
    return variable !== undefined && (variable === '' || variables?.has(variable) === true);
  }

  #isKey(placed: Pick<ApiKey, 'in' | 'name'>, text: string): boolean {
    const place = placed.in === 'headers' ? 'header' : placed.in;
    return isKeyValue(placed.name, text, place) || this.keys.isOwnVariable(placed, text);
  }

  /** Matches a scheme of any name before a placeholder: `DeepL-Auth-Key [yourAuthKey]`. */
  #placeholderBehindScheme(name: string, value: string): RegExpExecArray | null {
    if (name !== 'authorization' && !isKeyName(name)) return null;
    const match = /^([a-z][\w-]*) +(\S.*)$/i.exec(value);
    if (match && this.keys.variableIn(match[2] ?? '') === undefined) return null;
    return match;
  }

  /** The path with names in braces, and their bindings. */
  path(pathText: string): { readonly path: string; readonly params: readonly Binding[] } {
    const params: Binding[] = [];
    const segments = pathText.split('/');
    const path = segments.map((raw, at) => this.#segment(raw, at, segments, params));
    this.#path = path.join('/');
    return { path: this.#path, params };
  }

  #segment(raw: string, at: number, segments: readonly string[], params: Binding[]): string {
    const [, bracedName, bracedValue] = /^\{([A-Za-z]\w*)=([^{}]+)\}$/.exec(raw) ?? [];
    const authorName = bracedName ?? this.#chosenName(uriDecoded(raw));
    const [, base = raw, end = ''] = authorName === undefined ? (/^(.*?)(\.json)?$/.exec(raw) ?? []) : [];
    const text = uriDecoded(bracedValue ?? base);
    const last = segments[at - 1] ?? '';
    const preceding = segments.slice(0, at).map(uriDecoded);
    const kind = segmentKind(text, preceding);
    const [, openName] = /^:([A-Za-z]\w*)$/.exec(text) ?? [];
    const isOpen = openName !== undefined || this.#isOpen(text);
    const isNamedKey = isOpen && isKeyName(placeholderIn(text) ?? '');
    if (authorName === undefined && (isNamedKey || isKeyValue(last, text, 'path')))
      throw new RequestRefusal(
        'has what looks like a key in its path',
        'Give the key in a header, if the API takes it there. If it is none, write {id=…} for it.',
      );
    if (authorName === undefined && kind === undefined && !isOpen) {
      if (mayBeValue(text, preceding))
        this.constantSegments.push({ name: valueName('symbol', last), value: text });
      return raw.replaceAll('{', '%7B').replaceAll('}', '%7D');
    }
    const word = valueName(kind ?? 'id', last);
    const openWord = openName ?? (wordIn(text) || word);
    const argumentName = authorName ?? (isOpen ? openWord : word);
    this.#path = `${segments.slice(0, at).join('/')}/{${argumentName}}`;
    const segmentValue = kind === 'id' || authorName ? scalarOf(text) : text;
    const value = isOpen ? undefined : segmentValue;
    const shape = value === undefined ? anyText : shapeForValue(value);
    const { input } = this.#argument(argumentName, argumentName, 'path', value, shape);
    if (input === undefined) return (bracedValue ?? base) + end;
    if (authorName === undefined && !isOpen) {
      this.guessedInputs.push(input);
      this.notes.push({
        path: `inputSchema.properties.${input}`,
        what: `${base} in the path became an argument`,
        why: `--constant ${input} keeps it`,
      });
    }
    params.push({ name: input, input });
    return `{${input}}${end}`;
  }

  /** The name that the author gave to a segment; each counts for one segment. */
  #chosenName(segment: string): string | undefined {
    const segmentInput = [...this.#segmentInputs].find(({ value }) => value === segment);
    if (segmentInput) this.#segmentInputs.delete(segmentInput);
    return segmentInput?.name;
  }

  query(text: string): readonly Binding[] {
    return this.#encodedPairs(text, 'query');
  }

  headers(givenHeaders: readonly NameValue[]): Binding[] {
    const dropped = droppedHeaders(givenHeaders);
    const bindings = givenHeaders.flatMap(([name, value]): readonly Binding[] => {
      // The source kit sends Accept: application/json, and the type of the body.
      const isUsual = name === 'accept' && /^(?:\*\/\*|application\/json)$/.test(value);
      if (dropped.has(name) || isUsual || name === 'content-type') return [];
      const [, scheme = '', token = ''] =
        /^(Basic|Bearer|Token|Bot|ApiKey|Key) +(\S.*)$/i.exec(value) ??
        /^([a-z][\w-]*) +([$%]\S+)$/i.exec(value) ??
        this.#placeholderBehindScheme(name, value) ??
        [];
      const withoutScheme = token || value;
      const isUnnamed = scheme !== '' && this.keys.variableIn(withoutScheme) === '';
      if (name === 'authorization' || isUnnamed || this.#isKey({ in: 'headers', name }, withoutScheme)) {
        this.keys.header(name, scheme, withoutScheme);
        return [];
      }
      if (!this.#isOpen(value)) return [{ name, constant: value }];
      return [this.#argument(name, name, 'header', undefined)];
    });
    if (dropped.size > 0) {
      const reason = 'a browser adds them; if the API needs one, the answer is 401 or 403';
      this.notes.push({ path: 'headers', what: `${[...dropped].join(', ')} left out`, why: reason });
    }
    return bindings;
  }

  /** The body of a request, with the media type that it has. */
  body(content: GivenBody | null, type: string, protocol: Protocol | undefined): ApiBody | null {
    if (content === null) return null;
    const { kind } = content;
    if (kind === 'multipart') return { kind, content: { members: this.#pairs(content.parts, 'body') } };
    const usualType = {
      json: 'application/json',
      form: 'application/x-www-form-urlencoded',
      text: 'text/plain',
    }[kind];
    const typed = type === '' || type === usualType ? {} : { mediaType: type };
    if (kind === 'form')
      return { kind, content: { members: this.#encodedPairs(content.text, 'body') }, ...typed };
    if (kind === 'json') {
      if (isFormType(type)) this.notes.push(jsonAsForm);
      return { ...this.#json(content.value, protocol), ...typed };
    }
    refuseKeyIn(content.text, 'body');
    const { name: _, ...value } = this.#argument('body', 'body', 'body', content.text);
    return { kind, content: value, ...typed };
  }

  #json(json: ExactObject | readonly ExactJson[], protocol: Protocol | undefined): ApiBody {
    const integers = integerPaths(json);
    const content = Array.isArray(json) ? this.#list(json) : this.#object(json as ExactObject, protocol);
    return { kind: 'json', content, ...(integers.length > 0 && { integers }) };
  }

  /** A list of scalars of one type is an argument, and the members of its only object are; other items are constant. */
  #list(items: readonly ExactJson[]): BoundValue {
    const at = keyBelow(items, 'body');
    if (at !== undefined)
      throw new RequestRefusal(`has a key in ${at}`, 'Only keys at the root of a body can be sent.');
    const [first, ...otherItems] = items;
    if (isObject(first) && otherItems.length === 0) {
      const members = Object.entries(first as ExactObject);
      const item = {
        name: '0',
        members: members.flatMap(([name, value]) => this.#member(name, value, undefined, '0')),
      };
      return { members: [item], isList: true };
    }
    const shape = shapeForValue(items);
    if (shape === undefined) return { constant: withDigits(items) };
    const { name: _, ...value } = this.#argument('body', 'body', 'body', withDigits(items), shape);
    return value;
  }

  #object(json: ExactObject, protocol: Protocol | undefined): BoundValue {
    const fixed =
      protocol === undefined ? [] : ['jsonrpc', 'id', 'method', 'query', 'operationName', 'extensions'];
    const withVariables =
      protocol?.envelope === 'graphql' && protocol.types.size > 0
        ? {
            ...json,
            variables: withDeclaredVariables(isObject(json.variables) ? json.variables : {}, protocol),
          }
        : json;
    const [conversation, ...userText] = userTextPath(json) ?? [];
    const members = Object.entries(withVariables).flatMap(([name, value]): readonly Binding[] => {
      if (fixed.includes(name)) return [{ name, constant: withDigits(value) }];
      const at = typeof value === 'string' ? undefined : keyBelow(value, name);
      if (at !== undefined)
        throw new RequestRefusal(`has a key in ${at}`, 'Only keys at the root of a body can be sent.');
      if (name === conversation) return [this.#withInputAt(name, value, userText)];
      const isPositional = protocol?.envelope === 'json-rpc' && name === 'params' && Array.isArray(value);
      if (isObject(value) || isPositional) {
        const inner = Object.entries(value as ExactObject);
        if (inner.length === 0) return [{ name, constant: withDigits(value) }];
        const members = inner.flatMap(([memberName, member]) =>
          this.#member(memberName, member, protocol, name, isPositional),
        );
        return [{ name, members, ...(isPositional && { isList: true as const }) }];
      }
      return this.#member(name, value, protocol);
    });
    return { members };
  }

  /** A value whose text at a path is an argument; the rest of it is constant. */
  #withInputAt(name: string, value: ExactJson, [step, ...steps]: readonly string[]): Binding {
    if (step === undefined) return this.#argument(name, name, 'body', withDigits(value));
    const members = Object.entries(value as ExactObject).map(([memberName, member]) =>
      memberName === step
        ? this.#withInputAt(memberName, member, steps)
        : { name: memberName, constant: withDigits(member) },
    );
    return { name, members, ...(Array.isArray(value) && { isList: true as const }) };
  }

  #member(
    name: string,
    value: ExactJson,
    protocol: Protocol | undefined,
    container?: string,
    isPositional = false,
  ): readonly Binding[] {
    const isText = typeof value === 'string';
    if (isText && container === undefined && this.#isKey({ in: 'body', name }, value)) {
      this.keys.add({ in: 'body', name, kind: 'plain' }, value);
      return [];
    }
    const declaredType = container === 'variables' ? protocol?.types.get(name) : undefined;
    const isOpen = isText && this.#isOpen(value);
    const isMissing = value === null && declaredType !== undefined;
    const valueShape = isOpen ? anyText : shapeForValue(value);
    const shape = declaredType === undefined ? valueShape : graphqlShape(declaredType, value);
    const isDeep = protocol?.envelope !== 'graphql' && shape?.type === 'object';
    if (shape === undefined || isDeep || (shape.type === 'array' && isPositional))
      return [{ name, constant: withDigits(value) }];
    const argumentName = isPositional ? positionName(value, Number(name)) : name;
    const isOptional = isMissing && !/!$/.test(declaredType ?? '');
    const currentValue = isOpen || isMissing ? undefined : withDigits(value);
    return [this.#argument(name, argumentName, 'body', currentValue, shape, isOptional)];
  }

  /** The pairs of an encoded query or form. */
  #encodedPairs(text: string, place: 'query' | 'body'): readonly Binding[] {
    const pairs = text
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair): NameValue => {
        const at = pair.indexOf('=');
        if (at < 0) return [pair, ''];
        return [pair.slice(0, at), pair.slice(at + 1)];
      });
    return this.#pairs(pairs, place, (text) => uriDecoded(text.replaceAll('+', ' ')));
  }

  /** Pairs of names and values; names that repeat are a list. */
  #pairs(
    pairs: readonly NameValue[],
    place: 'query' | 'body',
    decode?: (text: string) => string,
  ): readonly Binding[] {
    const decoded = (text: string) => decode?.(text) ?? text;
    const names = [...new Set(pairs.map(([name]) => name))];
    return names.flatMap((raw): readonly Binding[] => {
      const values = pairs.filter(([name]) => name === raw).map(([, value]) => value);
      const [first = '', ...otherValues] = values;
      const name = decoded(raw);
      if (otherValues.length === 0)
        return this.#pair(name, decoded(first), first, place, decode !== undefined);
      const texts = values.map(decoded);
      if (texts.some((text) => this.#isKey({ in: place, name }, text)))
        throw new RequestRefusal(`has several values for the key ${name}`, 'Remove all but one.');
      const list: Shape = { type: 'array', items: anyText };
      const style = decode ? ({ style: 'form' } as const) : {};
      return [{ ...this.#argument(name, name, place, texts, list), ...style }];
    });
  }

  #pair(
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
    const isPlace = /^(?:lat|lng|lon|latitude|longitude)$/i.test(name) && typeof scalarOf(text) === 'number';
    const value = this.#isOpen(text) ? undefined : scalarOf(text);
    let shape: ReturnType<typeof shapeForValue> = anyText;
    if (value !== undefined) shape = isPlace ? { type: 'number' } : shapeForValue(value);
    const style = isStyled ? styleLike(raw, text) : undefined;
    return [{ ...this.#argument(name, name, place, value, shape), ...(style && { style }) }];
  }

  /** A binding of an argument, or of a constant if it shall stay. */
  #argument(
    name: string,
    argumentName: string,
    place: Place,
    value: Json | undefined,
    shape: Shape = anyText,
    isOptional = false,
  ): Binding {
    const input = freeInputName(argumentName, place, (fieldName) =>
      this.fields.some((field) => field.name === fieldName),
    );
    this.names.add(input);
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

/** The note about JSON that curl declares as a form, because the command names no media type. */
const jsonAsForm = {
  path: 'body',
  what: 'is JSON that is sent as application/x-www-form-urlencoded, as curl sends it',
  why: "if the API needs another type, add -H 'content-type: application/json'",
};

/** @throws RequestRefusal for a key in a text that is sent unchanged */
export function refuseKeyIn(text: string, place: 'query' | 'body'): void {
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
  const missing = [...types].filter(([name, type]) => !Object.hasOwn(variables, name) && !type.endsWith('?'));
  return { ...variables, ...Object.fromEntries(missing.map(([name]) => [name, null])) };
}

function positionName(value: ExactJson, at: number): string {
  if (typeof value === 'boolean') return 'full';
  if (typeof value !== 'string') return `param_${at + 1}`;
  if (/^(?:latest|earliest|pending|safe|finalized)$/.test(value)) return 'block';
  return idKind(value) ?? `param_${at + 1}`;
}

/** The name of a value in a path, by its kind and the segment before it: `coin_id`, `date`. */
function valueName(kind: SegmentKind, last: string): string {
  const before = singular(last.replace(/[^A-Za-z0-9]+/g, '_'));
  if (kind === 'ip' || kind === 'date' || /^v?\d*$/.test(before) || before === kind) return kind;
  if (kind === 'symbol') return /^[a-z_]+$/.test(before) ? before : kind;
  return `${before}_${kind}`;
}

/** `YOUR_CHAIN`, `<chain>`, `$CHAIN` → `chain`. */
function wordIn(placeholder: string): string {
  return placeholder
    .replace(/^(?:your|my)[-_ ]/i, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase();
}
