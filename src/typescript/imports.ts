import type { CallExpression, Node, ObjectPattern } from '@babel/types';
import { memberName } from './read-literal.ts';
import { nodesIn, type Placed, treeOf } from './tree.ts';

/** A reference to another module: `import … from`, `export … from`, `import '…'`, `import('…')`, `require('…')`. */
export interface ModuleReference {
  /** The text between the quotes. */
  readonly specifier: string;
  /** Offsets of the specifier with its quotes. */
  readonly at: readonly [start: number, end: number];
  /** The names that it takes from the other module, those of `const { a } = await import('…')` too, with their offsets. */
  readonly names: readonly { readonly name: string; readonly start: number }[];
}

/** Every reference to another module in TypeScript or JavaScript source, in order; none in source that cannot be parsed. */
export function moduleReferences(text: string): readonly ModuleReference[] {
  const tree = treeOf(text);
  const found: ModuleReference[] = [];
  /** Calls whose result a declaration takes apart. */
  const patterns = new Map<Node, ObjectPattern>();
  for (const node of tree ? nodesIn(tree.program) : []) {
    if (node.type === 'VariableDeclarator' && node.id.type === 'ObjectPattern' && node.init)
      patterns.set(node.init.type === 'AwaitExpression' ? node.init.argument : node.init, node.id);
    const source = moduleSpecifier(node);
    if (!source) continue;
    const parts: readonly Node[] = 'specifiers' in node ? (node.specifiers ?? []) : [];
    const names = [...parts, ...(patterns.get(node)?.properties ?? [])].flatMap(nameIn);
    found.push({ specifier: source.value, at: [source.start, source.end], names });
  }
  return found;
}

/** The specifier of a node that refers to another module. */
function moduleSpecifier(node: Node) {
  const source = sourceNode(node);
  if (source?.type === 'StringLiteral') return source as Placed<typeof source>;
  return undefined;
}

function sourceNode(node: Node) {
  if (node.type === 'CallExpression' && isImporter(node)) return node.arguments[0];
  if (node.type === 'TSImportType') return node.argument;
  if (node.type === 'TSExternalModuleReference') return node.expression;
  if ('source' in node) return node.source;
  return undefined;
}

function isImporter({ callee }: CallExpression): boolean {
  return callee.type === 'Import' || (callee.type === 'Identifier' && callee.name === 'require');
}

/** The name in the other module; none for all of it, or its default. */
function nameIn(part: Node): ModuleReference['names'] {
  const nameNode = nameNodeOf(part);
  let name: string | undefined;
  if (nameNode.type === 'ObjectProperty') name = memberName(nameNode);
  else if (nameNode.type === 'Identifier') name = nameNode.name;
  if (name === undefined) return [];
  return [{ name, start: nameNode.start ?? 0 }];
}

function nameNodeOf(part: Node): Node {
  if (part.type === 'ImportSpecifier') return part.imported;
  if (part.type === 'ExportSpecifier') return part.local;
  return part;
}
