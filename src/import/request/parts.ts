import { isKeyName, uriDecoded } from 'market-mcp-contract/command';
import { isObject, type Json } from 'market-mcp-contract/json';
import type { Field, Shape } from '../../model/model.ts';
import { isKeyValue, keyBelow, placeholderIn } from '../key-names.ts';
import type { ApiBody, ApiKey, ApiVariable, Binding } from '../model.ts';
import { inputDescription, singular } from '../openapi/describe.ts';
import { freeInputName } from '../openapi/parameters.ts';
import type { GivenRequest, NameValue } from './curl.ts';
import { type ExactJson, type ExactObject, integerPaths, withDigits } from './exact-body.ts';
import { KeyParts } from './keys.ts';
import type { Protocol } from './protocols.ts';
import { graphqlShape, idKind, noise, scalarOf, shapeOf, styleLike } from './values.ts';
import { RequestRefusal } from './words.ts';

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
  /** Arguments of the path that only look like some. */
  readonly guessed: string[] = [];
  readonly #given: GivenRequest;
  readonly #constants: ReadonlySet<string>;
  #path = '';

  /**
   * @param constants names of arguments that stay as they are
   * @param projectVariables addresses and keys that the project has
   */
  constructor(
    api: { readonly prefix: string; readonly title: string },
    given: GivenRequest,
    constants: readonly string[],
    projectVariables: readonly ApiVariable[],
  ) {
    this.keys = new KeyParts(api, given, projectVariables);
    this.#given = given;
    this.#constants = new Set(constants);
  }

  /** Whether a text where no key stands is a placeholder, so that the argument has no value. */
  #isOpen(text: string): boolean {
    const { variables } = this.#given;
    const variable = variables === null ? undefined : placeholderIn(text);
    return variable !== undefined && (variable === '' || variables?.has(variable) === true);
  }

  #isKey(placed: Pick<ApiKey, 'in' | 'name'>, text: string): boolean {
    const place = placed.in === 'headers' ? 'header' : placed.in;
    return isKeyValue(placed.name, text, place) || this.keys.isRepeated(placed, text);
  }

  /** The path with names in braces, and their bindings. */
  path(given: string): { readonly path: string; readonly params: readonly Binding[] } {
    const params: Binding[] = [];
    const segments = given.split('/');
    const path = segments.map((raw, at) => this.#segment(raw, at, segments, params));
    this.#path = path.join('/');
    return { path: this.#path, params };
  }

  #segment(raw: string, at: number, segments: readonly string[], params: Binding[]): string {
    const [, named, stated] = /^\{([A-Za-z]\w*)=([^{}]+)\}$/.exec(raw) ?? [];
    const [, base = raw, end = ''] = named === undefined ? (/^(.*?)(\.json)?$/.exec(raw) ?? []) : [];
    const text = uriDecoded(stated ?? base);
    const last = segments[at - 1] ?? '';
    const kind = idKind(text);
    const isOpen = this.#isOpen(text);
    const isNamedKey = isOpen && isKeyName(placeholderIn(text) ?? '');
    if (named === undefined && (isNamedKey || isKeyValue(last, text, 'path')))
      throw new RequestRefusal(
        'has what looks like a key in its path',
        'Give the key in a header, if the API takes it there. If it is none, write {id=…} for it.',
      );
    // A number at the start is the version of an API.
    const isId = kind !== undefined && !(at < 2 && /^\d{1,2}$/.test(text));
    if (named === undefined && !isId && !isOpen) return raw.replaceAll('{', '%7B').replaceAll('}', '%7D');
    const before = singular(last.replace(/[^A-Za-z0-9]+/g, '_'));
    const isAlone = /^v?\d*$/.test(before) || before === kind || kind === 'ip';
    const worded = isAlone ? (kind ?? 'id') : `${before}_${kind ?? 'id'}`;
    const own = named ?? (isOpen ? wordIn(text) || worded : worded);
    this.#path = `${segments.slice(0, at).join('/')}/{${own}}`;
    const value = isOpen ? undefined : kind === 'id' || named ? scalarOf(text) : text;
    const shape = value === undefined ? anyText : shapeOf(value);
    const { input } = this.#argument(own, own, 'path', value, shape);
    if (input === undefined) return (stated ?? base) + end;
    if (named === undefined && !isOpen) {
      this.guessed.push(input);
      this.notes.push({
        path: `inputSchema.properties.${input}`,
        what: `${base} in the path became an argument`,
        why: `--constant ${input} keeps it`,
      });
    }
    params.push({ name: input, input });
    return `{${input}}${end}`;
  }

  query(text: string): readonly Binding[] {
    return this.#pairs(text, 'query');
  }

  headers(given: readonly NameValue[]): readonly Binding[] {
    const left: string[] = [];
    const bindings = given.flatMap(([name, value]): readonly Binding[] => {
      if (noise.test(name) || (name === 'user-agent' && /^mozilla/i.test(value))) {
        left.push(name);
        return [];
      }
      if (name === 'accept' && /^(?:\*\/\*|application\/json)(?:[;,]|$)/.test(value)) return [];
      if (name === 'content-type') return [];
      const [, scheme = '', token = ''] =
        /^(Basic|Bearer|Token|Bot|ApiKey|Key) +(\S.*)$/i.exec(value) ??
        /^([a-z][\w-]*) +([$%]\S+)$/i.exec(value) ??
        [];
      const bare = token || value;
      const isUnnamed = scheme !== '' && this.keys.variableIn(bare) === '';
      if (name === 'authorization' || isUnnamed || this.#isKey({ in: 'headers', name }, bare)) {
        this.keys.header(name, scheme, bare);
        return [];
      }
      if (!this.#isOpen(value)) return [{ name, constant: value }];
      return [this.#argument(name, name, 'header', undefined)];
    });
    if (left.length > 0) {
      const why = 'a browser adds them; if the API needs one, the answer is 401 or 403';
      this.notes.push({ path: 'headers', what: `${left.join(', ')} left out`, why });
    }
    return bindings;
  }

  /** The body of a request; a multipart one, a form, or an object in JSON. */
  body(
    { body, headers }: GivenRequest,
    json: ExactJson | undefined,
    protocol: Protocol | undefined,
  ): ApiBody | null {
    if (body === null || body === '') return null;
    if (typeof body !== 'string') {
      const members = body.flatMap(([name, value]) => this.#pair(name, value, value, 'body', false));
      return { kind: 'multipart', members };
    }
    const type = headers.find(([name]) => name === 'content-type')?.[1] ?? '';
    if (json === undefined) {
      if (!/^application\/x-www-form-urlencoded/i.test(type))
        throw new RequestRefusal(
          `has a body of ${type || 'no type'} that is no JSON`,
          'A tool sends JSON or a form.',
        );
      return { kind: 'form', members: this.#pairs(body, 'body') };
    }
    if (!isObject(json))
      throw new RequestRefusal('has a body that is no JSON object', 'A tool sends an object with members.');
    if (/^application\/x-www-form-urlencoded/i.test(type))
      this.notes.push({
        path: 'body',
        what: 'is sent as application/json',
        why: 'it is JSON, and the command names no type',
      });
    return this.#json(json, protocol);
  }

  #json(json: ExactObject, protocol: Protocol | undefined): ApiBody {
    const fixed =
      protocol === undefined ? [] : ['jsonrpc', 'id', 'method', 'query', 'operationName', 'extensions'];
    const withVariables =
      protocol?.envelope === 'graphql' && protocol.types.size > 0
        ? { ...json, variables: withAll(isObject(json.variables) ? json.variables : {}, protocol) }
        : json;
    const members = Object.entries(withVariables).flatMap(([name, value]): readonly Binding[] => {
      if (fixed.includes(name)) return [{ name, constant: withDigits(value) }];
      const at = typeof value === 'string' ? undefined : keyBelow(value, name);
      if (at !== undefined)
        throw new RequestRefusal(`has a key in ${at}`, 'Only keys at the root of a body can be sent.');
      const isPositional = protocol?.envelope === 'json-rpc' && name === 'params' && Array.isArray(value);
      if (isObject(value) || isPositional) {
        const inner = Object.entries(value as ExactObject);
        if (inner.length === 0) return [{ name, constant: withDigits(value) }];
        const members = inner.flatMap(([own, one]) => this.#member(own, one, protocol, name, isPositional));
        return [{ name, members, ...(isPositional && { isList: true as const }) }];
      }
      return this.#member(name, value, protocol);
    });
    const integers = integerPaths(json);
    return { kind: 'json', members, ...(integers.length > 0 && { integers }) };
  }

  #member(
    name: string,
    value: ExactJson,
    protocol: Protocol | undefined,
    within?: string,
    isPositional = false,
  ): readonly Binding[] {
    const isText = typeof value === 'string';
    if (isText && within === undefined && this.#isKey({ in: 'body', name }, value)) {
      this.keys.add({ in: 'body', name, kind: 'plain' }, value);
      return [];
    }
    const declared = within === 'variables' ? protocol?.types.get(name) : undefined;
    const isOpen = isText && this.#isOpen(value);
    const isMissing = value === null && declared !== undefined;
    const shape = declared !== undefined ? graphqlShape(declared, value) : isOpen ? anyText : shapeOf(value);
    const isDeep = protocol?.envelope !== 'graphql' && shape?.type === 'object';
    if (shape === undefined || isDeep || (shape.type === 'array' && isPositional))
      return [{ name, constant: withDigits(value) }];
    const own = isPositional ? positionName(value, Number(name)) : name;
    const isOptional = isMissing && !/!$/.test(declared ?? '');
    const given = isOpen || isMissing ? undefined : withDigits(value);
    return [this.#argument(name, own, 'body', given, shape, isOptional)];
  }

  /** The pairs of a query or a form; names that repeat are a list. */
  #pairs(text: string, place: 'query' | 'body'): readonly Binding[] {
    const pairs = text.split('&').flatMap((part): (readonly [string, string])[] => {
      const at = part.indexOf('=');
      return part === '' ? [] : [at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]];
    });
    const names = [...new Set(pairs.map(([name]) => name))];
    return names.flatMap((raw): readonly Binding[] => {
      const own = pairs.filter(([name]) => name === raw).map(([, value]) => value);
      const [first = '', ...others] = own;
      const name = uriDecoded(raw.replaceAll('+', ' '));
      const text = uriDecoded(first.replaceAll('+', ' '));
      if (others.length === 0) return this.#pair(name, text, first, place, true);
      const values = own.map((one) => uriDecoded(one.replaceAll('+', ' ')));
      const list: Shape = { type: 'array', items: anyText };
      return [{ ...this.#argument(name, name, place, values, list), style: 'form' }];
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
    const shape = value === undefined ? anyText : isPlace ? ({ type: 'number' } as const) : shapeOf(value);
    const style = isStyled ? styleLike(raw, text) : undefined;
    return [{ ...this.#argument(name, name, place, value, shape), ...(style && { style }) }];
  }

  /** A binding of an argument, or of a constant if it shall stay. */
  #argument(
    name: string,
    own: string,
    place: Place,
    value: Json | undefined,
    shape: Shape = anyText,
    isOptional = false,
  ): Binding {
    const input = freeInputName(own, place, (one) => this.fields.some((field) => field.name === one));
    this.names.add(input);
    if (value !== undefined && this.#constants.has(input)) return { name, constant: value };
    const { type, items } = shape;
    const description = inputDescription(
      own,
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

/** The variables of an operation with those that it declares and the request does not give. */
function withAll(variables: ExactObject, { types }: Protocol): ExactObject {
  const missing = [...types].filter(([name, type]) => !Object.hasOwn(variables, name) && !type.endsWith('?'));
  return { ...variables, ...Object.fromEntries(missing.map(([name]) => [name, null])) };
}

function positionName(value: ExactJson, at: number): string {
  if (typeof value === 'boolean') return 'full';
  if (typeof value !== 'string') return `param_${at + 1}`;
  return /^(?:latest|earliest|pending|safe|finalized)$/.test(value)
    ? 'block'
    : (idKind(value) ?? `param_${at + 1}`);
}

/** `YOUR_CHAIN`, `<chain>`, `$CHAIN` → `chain`. */
function wordIn(placeholder: string): string {
  return placeholder
    .replace(/^(?:your|my)[-_ ]/i, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase();
}
