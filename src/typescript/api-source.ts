import type { Node, ObjectExpression } from '@babel/types';
import type { Json } from 'market-mcp-contract/json';
import { innerExpression, LiteralReader, memberName, writtenProperties } from './read-literal.ts';
import { nodesIn, treeOf } from './tree.ts';

/** The keys in a file of `src/apis/`, read without running it. */
export interface ApiSource {
  /** The members of `env` in `headers` and `query`, which every request sends. */
  readonly shared: ReadonlySet<string>;
  /**
   * The names in `credentials`, which requests state: the places that each fills and its members of `env`, `headers X-Key` and
   * `SHOP_KEY`; empty if it is not literal.
   */
  readonly named: ReadonlyMap<string, ReadonlySet<string>>;
  /** What requests send that state nothing; undefined if it is not stated, or not literal. */
  readonly auth: Json | undefined;
  /** The ends of the options, and of `credentials` if there are any. */
  readonly options: End;
  readonly credentials: End | undefined;
}

/** The end of an object in the text: the index of its bracket, and that behind the last token before it. */
export interface End {
  readonly bracket: number;
  readonly behind: number;
}

/** Reads a file of `src/apis/` in any formatting. Undefined if its options are not written as one object literal. */
export function readApiSource(text: string): ApiSource | undefined {
  const tree = treeOf(text);
  const options = [...(tree ? nodesIn(tree.program) : [])]
    .map(sourceOptions)
    .find((found) => found !== undefined);
  if (!options || options.properties.some(({ type }) => type === 'SpreadElement')) return undefined;
  const properties = new Map(writtenProperties(options));
  const sentProperties = ['headers', 'query'].flatMap((name) => properties.get(name) ?? []);
  const credentialsNode = properties.get('credentials');
  const credentials = credentialsNode && innerExpression(credentialsNode);
  return {
    shared: new Set(sentProperties.flatMap(envMembersIn)),
    named: new Map(
      credentials && writtenProperties(credentials).map(([name, value]) => [name, filledBy(value)]),
    ),
    auth: new LiteralReader(tree).members(options)?.get('auth'),
    options: objectEnd(options),
    credentials: credentials?.type === 'ObjectExpression' ? objectEnd(credentials) : undefined,
  };
}

/** The options of `httpSource({ … })`. */
function sourceOptions(node: Node): ObjectExpression | undefined {
  if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier') return undefined;
  const [options] = node.callee.name === 'httpSource' ? node.arguments : [];
  const object = options && innerExpression(options);
  if (object?.type === 'ObjectExpression') return object;
  return undefined;
}

/** The places that a credential fills, each followed by the members of `env` in it. */
function filledBy(credential: Node): ReadonlySet<string> {
  const filled = writtenProperties(credential).flatMap(([place, fields]) =>
    writtenProperties(fields).flatMap(([field, value]) => [`${place} ${field}`, ...envMembersIn(value)]),
  );
  return new Set([...filled, ...envMembersIn(credential)]);
}

/** The members of `env` that an expression reads. */
export function envMembersIn(expression: Node): readonly string[] {
  return [...nodesIn(expression)].flatMap((node) => {
    if (node.type !== 'MemberExpression' || node.object.type !== 'Identifier') return [];
    if (node.object.name === 'env') return memberName({ key: node.property, computed: node.computed }) ?? [];
    return [];
  });
}

function objectEnd({ start, end, properties, extra }: ObjectExpression): End {
  const comma = extra?.trailingComma;
  const last = properties.at(-1)?.end ?? (start ?? 0) + 1;
  return { bracket: (end ?? 0) - 1, behind: typeof comma === 'number' ? comma + 1 : last };
}
