import type { CallExpression, Node, VariableDeclaration } from '@babel/types';
import { keyOf } from './literal.ts';
import { nodesIn, type Placed, type Tree, treeOf } from './tree.ts';

/** A reference to another module: `import … from`, `export … from`, `import '…'`, `import('…')`, `require('…')`. */
export interface ModuleReference {
  readonly kind: 'import' | 'export' | 'effect' | 'dynamic';
  /** The text between the quotes. */
  readonly specifier: string;
  /** 1-based. */
  readonly line: number;
  /** Offsets of the specifier with its quotes. */
  readonly at: readonly [start: number, end: number];
  /** Offsets from the first keyword to the specifier's end, or to the bracket after it. */
  readonly statement: readonly [start: number, end: number];
  /** The names in braces, also those of `const { a } = await import('…')`; null if there is something else. */
  readonly names: readonly ReferencedName[] | null;
  /** Offsets of the braces around the names; empty without names. */
  readonly braces: readonly [start: number, end: number];
}

export interface ReferencedName {
  /** The name in the other module. */
  readonly name: string;
  /** The source text: `type A as B`, `a: b`. */
  readonly text: string;
}

/** Every reference to another module in TypeScript or JavaScript source, in order; none in source that cannot be parsed. */
export function moduleReferences(text: string): readonly ModuleReference[] {
  const tree = treeOf(text);
  const found: ModuleReference[] = [];
  const declared = new Set<Node>();
  for (const node of tree ? nodesIn(tree.program) : []) {
    const source = declared.has(node) ? undefined : sourceOf(node);
    const call = node.type === 'VariableDeclaration' ? wholeCall(node) : undefined;
    const specifier = source ?? (call && sourceOf(call));
    if (!tree || !specifier) continue;
    const list = listOf(text, node, specifier);
    const parts = list && !hasComment(tree, list.braces) ? list.parts : [null];
    const names = parts.flatMap((part) =>
      part ? { name: nameOf(part), text: text.slice(part.start, part.end) } : [],
    );
    const isListed = names.length === parts.length && names.every(({ name }) => name !== '');
    if (call && !isListed) continue;
    if (call) declared.add(call);
    found.push({
      kind: kindOf(node, list !== undefined),
      specifier: specifier.value,
      line: text.slice(0, node.start).split('\n').length,
      at: [specifier.start, specifier.end],
      statement: [node.start, call?.end ?? specifier.end],
      names: isListed ? names : null,
      braces: isListed && list ? list.braces : [specifier.start, specifier.start],
    });
  }
  return found;
}

/** The names that a module exports, without `default` and the names of `export *`. */
export function exportedNames(text: string): ReadonlySet<string> {
  const statements = treeOf(text)?.program.body ?? [];
  const names = statements.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return [];
    const { declaration, specifiers } = statement;
    const declared = declaration?.type === 'VariableDeclaration' ? declaration.declarations : [declaration];
    const bound = declared.flatMap((one) => {
      const id = one && 'id' in one ? one.id : undefined;
      if (id?.type !== 'ObjectPattern') return id?.type === 'Identifier' ? id.name : [];
      return [...nodesIn(id)].flatMap((node) =>
        node.type === 'ObjectProperty' && node.value.type === 'Identifier' ? node.value.name : [],
      );
    });
    return [
      ...specifiers.map(({ exported }) => ('name' in exported ? exported.name : exported.value)),
      ...bound,
    ];
  });
  return new Set(names.filter((name) => name !== 'default'));
}

/** The specifier of a node that refers to another module. */
function sourceOf(node: Node) {
  const source =
    node.type === 'CallExpression' && isImporter(node)
      ? node.arguments[0]
      : node.type === 'TSImportType'
        ? node.argument
        : node.type === 'TSExternalModuleReference'
          ? node.expression
          : 'source' in node
            ? node.source
            : undefined;
  return source?.type === 'StringLiteral' ? (source as Placed<typeof source>) : undefined;
}

function isImporter({ callee }: CallExpression): boolean {
  return callee.type === 'Import' || (callee.type === 'Identifier' && callee.name === 'require');
}

/** The call whose whole result one declaration takes apart: `const { a } = await import('…')`. */
function wholeCall({ declarations: [first, second] }: VariableDeclaration): Placed | undefined {
  const init = first?.init?.type === 'AwaitExpression' ? first.init.argument : first?.init;
  return init && !second && sourceOf(init) ? (init as Placed) : undefined;
}

/** The braces of a statement and what is between them; null for what is not only a name. */
function listOf(text: string, node: Placed, { start }: Placed) {
  if (node.type === 'VariableDeclaration') {
    const id = node.declarations[0]?.id;
    if (id?.type !== 'ObjectPattern' || id.typeAnnotation) return undefined;
    const braces = [id.start ?? 0, id.end ?? 0] as const;
    return { braces, parts: id.properties.map((one) => (isPlain(one) ? (one as Placed) : null)) };
  }
  const specifiers = 'specifiers' in node ? (node.specifiers as readonly Placed[]) : [];
  const open = text.slice(node.start, start).indexOf('{');
  if (specifiers.length === 0 && open < 0) return undefined;
  const braces = [node.start, start] as const;
  const parts = specifiers.map((one) => (/^(Im|Ex)portSpecifier$/.test(one.type) ? one : null));
  if (open < 0 || parts.includes(null)) return { braces, parts: [null] };
  return { braces: [node.start + open, text.lastIndexOf('}', start) + 1] as const, parts };
}

/** `a` or `a: b` in a pattern. */
function isPlain(property: Node): boolean {
  return property.type === 'ObjectProperty' && !property.computed && property.value.type === 'Identifier';
}

/** The name in the other module. */
function nameOf(part: Placed): string {
  const name =
    part.type === 'ImportSpecifier' ? part.imported : part.type === 'ExportSpecifier' ? part.local : part;
  if (name.type === 'ObjectProperty') return keyOf(name) ?? '';
  return name.type === 'Identifier' ? name.name : '';
}

function kindOf({ type }: Node, isList: boolean): ModuleReference['kind'] {
  if (type.startsWith('Export')) return 'export';
  if (type !== 'ImportDeclaration') return 'dynamic';
  return isList ? 'import' : 'effect';
}

function hasComment({ comments }: Tree, [start, end]: readonly [number, number]): boolean {
  return comments?.some(({ start: at = 0 }) => at >= start && at < end) ?? false;
}
