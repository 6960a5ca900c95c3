import { isObject, type JsonObject } from 'market-mcp-contract/json';
import type { ExactJson } from './exact-body.ts';
import { RequestRefusal } from './request-refusal.ts';

/** The type of a variable of a GraphQL operation. */
export interface VariableType {
  /** As the operation declares it: `[ID!]!`. */
  readonly type: string;
  readonly hasDefault: boolean;
}

/** How a POST body asks: the name of its protocol, and whether it only reads. */
export interface Protocol {
  readonly envelope: 'graphql' | 'json-rpc';
  /** Words for the name of the tool. */
  readonly operation: string;
  readonly onlyReads: boolean;
  /** Types of the variables of a GraphQL operation. */
  readonly types: ReadonlyMap<string, VariableType>;
}

/** The protocol that a JSON body speaks; undefined if it is only JSON. @throws RequestRefusal for a batch, a subscription */
export function protocolOf(body: ExactJson): Protocol | undefined {
  const batch: readonly ExactJson[] = Array.isArray(body) ? body : [];
  if (batch.some((request) => isObject(request) && ('jsonrpc' in request || 'query' in request)))
    throw new RequestRefusal('is a batch of several requests', 'Give one --from-request for each.');
  if (!isObject(body)) return undefined;
  const { query, method, jsonrpc } = body;
  if (jsonrpc !== undefined && typeof method === 'string')
    return { envelope: 'json-rpc', operation: method, onlyReads: readsByRpc(method), types: new Map() };
  const otherMembers = Object.keys(body).filter((name) => !graphqlMembers.has(name));
  if (
    typeof query !== 'string' ||
    otherMembers.length > 0 ||
    !/^[\s#]*(?:query|mutation|subscription|fragment|\{)/.test(query)
  )
    return undefined;
  return graphqlOf(query, body);
}

const graphqlMembers = new Set(['query', 'variables', 'operationName', 'extensions']);

function graphqlOf(query: string, { operationName }: JsonObject): Protocol {
  const text = query.replaceAll(/#.*|"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"/g, (part) =>
    part.startsWith('#') ? '' : '""',
  );
  const operations = [
    ...text.matchAll(/(?<![\w$.])(query|mutation|subscription)\b\s*(\w*)\s*(?:\(([^{]*)\))?[^{(]*\{/g),
  ];
  const operation = operations.find(([, , name]) => name === operationName) ?? operations[0];
  const [, kind = 'query', name = '', declaredVariables = ''] = operation ?? [];
  if (kind === 'subscription')
    throw new RequestRefusal('is a subscription, which has no answer', 'Give a query.');
  const [, field = 'data'] = /\{\s*(?:\w+\s*:\s*)?(\w+)/.exec(text.slice(operation?.index ?? 0)) ?? [];
  const types = [...declaredVariables.matchAll(/\$(\w+)\s*:\s*([[\]\w!\s]+?)\s*(=|[,)$@]|$)/g)].map(
    ([, variable = '', type = '', sign]) =>
      [variable, { type: type.replaceAll(/\s/g, ''), hasDefault: sign === '=' }] as const,
  );
  const isSure = operations.length <= 1 || operationName !== undefined;
  return {
    envelope: 'graphql',
    operation: name || field,
    onlyReads: kind === 'query' && isSure && !/(?<![\w$.])(?:mutation|subscription)\b/.test(topLevel(text)),
    types: new Map(types),
  };
}

/** A GraphQL document without its selections and arguments, which nest. */
function topLevel(text: string): string {
  const shorter = text.replaceAll(/\{[^{}()]*\}|\([^{}()]*\)/g, ' ');
  return shorter === text ? text : topLevel(shorter);
}

/** Whether a method of JSON-RPC only reads, as the names of chains and nodes say it. */
export function readsByRpc(method: string): boolean {
  if (/^(?:net|web3)_/.test(method)) return true;
  if (/^(?:personal|admin|debug|miner|engine)_/.test(method)) return false;
  return /^(?:get(?![a-z])\w*|call|blockNumber|chainId|gasPrice|estimateGas|feeHistory)$/.test(
    method.replace(/^[a-z0-9]+_/, ''),
  );
}
