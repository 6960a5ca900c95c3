import type { Expression, Node, ObjectExpression, ObjectProperty } from '@babel/types';
import { isObject, type Json, type JsonObject } from 'market-mcp-contract/json';
import type { Placed, Tree } from './tree.ts';

/** Deeper nesting is not read: no person writes such a definition. */
const deepest = 200;

/** The members of an object literal; undefined for a value that only running the code could determine. */
export type LiteralMembers = ReadonlyMap<string, Json | undefined>;

/**
 * Reads values from source code without running it: JSON-like literals, constants of the file with such values, spreads of
 * them, joined strings, `as const` and `satisfies`.
 */
export class LiteralReader {
  readonly #constants: ReadonlyMap<string, Expression>;
  readonly #known: JsonObject;

  /** @param knownConstants values of imported names. */
  constructor(tree: Tree | undefined, knownConstants: JsonObject = {}) {
    this.#constants = constantsIn(tree);
    this.#known = knownConstants;
  }

  /** An expression without type annotations; for the name of a top-level constant, its value. */
  resolved(node: Node): Node {
    const unwrappedNode = innerExpression(node);
    const constant =
      unwrappedNode.type === 'Identifier' ? this.#constants.get(unwrappedNode.name) : undefined;
    if (constant) return innerExpression(constant);
    return unwrappedNode;
  }

  /** The value of a top-level constant; undefined if there is none, or if it is not a literal. */
  constant(name: string): Json | undefined {
    const value = this.#constants.get(name);
    return value && this.#value(value, 0);
  }

  /** The value of an expression; undefined if it is not a literal. */
  value(node: Node): Json | undefined {
    return this.#value(node, 0);
  }

  /** The members of an object literal, or of the constant that is named. */
  members(node: Node): LiteralMembers | undefined {
    const object = this.resolved(node);
    if (object.type === 'ObjectExpression') return this.#members(object, 0);
    return undefined;
  }

  #value(expression: Node, depth: number): Json | undefined {
    const node = innerExpression(expression);
    if (depth > deepest) return undefined;
    switch (node.type) {
      case 'StringLiteral':
      case 'BooleanLiteral':
        return node.value;
      case 'NullLiteral':
        return null;
      case 'NumericLiteral':
        if (Number.isFinite(node.value)) return node.value;
        return undefined;
      case 'TemplateLiteral':
        if (node.expressions.length === 0) return node.quasis[0]?.value.cooked ?? undefined;
        return undefined;
      case 'UnaryExpression':
        if (node.operator === '-') return this.#negative(node.argument, depth + 1);
        return undefined;
      case 'BinaryExpression':
        return this.#joined(node, depth + 1);
      case 'Identifier':
        return this.#constant(node.name, depth + 1);
      case 'ArrayExpression':
        return this.#list(node.elements, depth + 1);
      case 'ObjectExpression': {
        const members = this.#members(node, depth + 1);
        if ([...members.values()].includes(undefined)) return undefined;
        return Object.fromEntries(members) as JsonObject;
      }
      default:
        return undefined;
    }
  }

  #negative(argument: Node, depth: number): number | undefined {
    const value = this.#value(argument, depth);
    if (typeof value === 'number') return -value;
    return undefined;
  }

  #constant(name: string, depth: number): Json | undefined {
    const constant = this.#constants.get(name);
    if (constant) return this.#value(constant, depth);
    if (Object.hasOwn(this.#known, name)) return this.#known[name];
    return undefined;
  }

  /** Strings joined by `+`, however many. */
  #joined(expression: Node, depth: number): string | undefined {
    const parts: (Json | undefined)[] = [];
    let node = innerExpression(expression);
    while (node.type === 'BinaryExpression' && node.operator === '+') {
      parts.unshift(this.#value(node.right, depth));
      node = innerExpression(node.left);
    }
    parts.unshift(node.type === 'BinaryExpression' ? undefined : this.#value(node, depth));
    if (parts.every((part) => typeof part === 'string')) return parts.join('');
    return undefined;
  }

  #list(elements: readonly (Node | null)[], depth: number): Json | undefined {
    const items: Json[] = [];
    for (const element of elements) {
      if (element === null) return undefined;
      const isSpread = element.type === 'SpreadElement';
      const item = this.#value(isSpread ? element.argument : element, depth);
      if (item === undefined || (isSpread && !Array.isArray(item))) return undefined;
      for (const spreadItem of isSpread ? (item as Json[]) : [item]) items.push(spreadItem);
    }
    return items;
  }

  /** A spread, or a computed name, that cannot be read makes every member before it uncertain. */
  #members({ properties }: ObjectExpression, depth: number): LiteralMembers {
    const members = new Map<string, Json | undefined>();
    for (const property of properties) {
      if (property.type === 'SpreadElement') {
        this.#spread(property.argument, members, depth);
        continue;
      }
      const name = memberName(property);
      if (name === undefined) makeUncertain(members);
      else {
        const value = property.type === 'ObjectProperty' ? this.#value(property.value, depth) : undefined;
        members.set(name, value);
      }
    }
    return members;
  }

  #spread(argument: Node, members: Map<string, Json | undefined>, depth: number): void {
    const value = this.#value(argument, depth);
    if (isObject(value)) for (const [key, member] of Object.entries(value)) members.set(key, member);
    else makeUncertain(members);
  }
}

/** The name of a member: `symbol`, `'a b'`, `['__proto__']`; undefined for one that is computed. */
export function memberName({ key, computed }: { readonly key: Node; readonly computed?: boolean | null }) {
  if (key.type === 'StringLiteral') return key.value;
  if (key.type === 'NumericLiteral') return String(key.value);
  if (key.type === 'Identifier' && !computed) return key.name;
  return undefined;
}

/** The properties of an object literal with names that can be read; none for another expression. */
export function writtenMembers(node: Node): readonly (readonly [name: string, Placed<ObjectProperty>])[] {
  const object = innerExpression(node);
  if (object.type !== 'ObjectExpression') return [];
  return object.properties.flatMap((property) => {
    const name = property.type === 'ObjectProperty' ? memberName(property) : undefined;
    if (name === undefined) return [];
    return [[name, property as Placed<ObjectProperty>] as const];
  });
}

/** The values of `writtenMembers`. */
export function writtenProperties(node: Node) {
  return writtenMembers(node).map(([name, { value }]) => [name, value] as const);
}

/** An expression without `as`, `satisfies` and the like. */
export function innerExpression(node: Node): Node {
  let inner = node;
  while (/^TS(As|Satisfies|NonNull)Expression$|^TSTypeAssertion$/.test(inner.type) && 'expression' in inner) {
    inner = inner.expression as Node;
  }
  return inner;
}

/** The values of top-level constants by name. */
function constantsIn(tree: Tree | undefined): ReadonlyMap<string, Expression> {
  const statements = tree?.program.body.map((statement) =>
    statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement,
  );
  const constants = (statements ?? []).flatMap((statement) =>
    statement?.type === 'VariableDeclaration' && statement.kind === 'const' ? statement.declarations : [],
  );
  return new Map(
    constants.flatMap(({ id, init }) => (id.type === 'Identifier' && init ? [[id.name, init] as const] : [])),
  );
}

/** After a member that cannot be read, any member before it may have another value. */
function makeUncertain(members: Map<string, Json | undefined>): void {
  for (const key of members.keys()) members.set(key, undefined);
  members.set('...', undefined);
}
