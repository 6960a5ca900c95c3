import type { Node } from '@babel/types';
import { isObject } from 'market-mcp-contract/json';
import { envMembersIn } from './api-source.ts';
import { innerExpression, LiteralReader, writtenProperties } from './read-literal.ts';
import { nodesIn, treeOf } from './tree.ts';

/** The address of an API, or the variable that has it; null if only running the code could determine it. */
export type ApiAddress = { readonly url: string } | { readonly variable: string } | null;

/** Where a file of `src/apis/` sends requests, and the variables that it reads. */
export interface ApiAddresses {
  readonly addresses: readonly ApiAddress[];
  readonly variables: ReadonlySet<string>;
}

/** Reads each `baseUrl` of a file of `src/apis/`, without running it. */
export function readAddresses(text: string): ApiAddresses {
  const tree = treeOf(text);
  if (!tree) return { addresses: [], variables: new Set() };
  const reader = new LiteralReader(tree);
  const properties = [...nodesIn(tree.program)].flatMap(writtenProperties);
  const addresses = properties
    .filter(([name]) => name === 'baseUrl')
    .map(([, value]) => readApiAddress(value, reader));
  return { addresses, variables: new Set(envMembersIn(tree.program)) };
}

function readApiAddress(value: Node, reader: LiteralReader): ApiAddress {
  const [variable] = innerExpression(value).type === 'MemberExpression' ? envMembersIn(value) : [];
  if (variable !== undefined) return { variable };
  const url = reader.value(value);
  if (typeof url === 'string') return { url };
  return null;
}

/** The defaults of the variables that `src/env.ts` declares, as in `url('…', { default: 'https://api.example.com' })`. */
export function readDefaults(text: string): ReadonlyMap<string, string> {
  const tree = treeOf(text);
  const reader = new LiteralReader(tree);
  const properties = tree ? [...nodesIn(tree.program)].flatMap(writtenProperties) : [];
  return new Map(
    properties.flatMap(([name, value]): (readonly [string, string])[] => {
      const [, options] = value.type === 'CallExpression' ? value.arguments : [];
      const literal = options && reader.value(options);
      if (isObject(literal) && typeof literal.default === 'string') return [[name, literal.default]];
      return [];
    }),
  );
}
