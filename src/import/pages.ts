import { isObject, type JsonObject, membersOf, objectOr, propertiesOf } from 'market-mcp-contract/json';

const total = { type: 'integer', description: 'Number of all items, on all pages, as the API says.' };
const nextText = 'Arguments of the call for the next page; null if there is none.';

/** Names of headers by which an answer says where it lies among its pages, in lower case. */
const pagingHeaders = new Set(['link', 'x-total-count', 'x-total', 'total-count', 'x-next-page']);

/** Whether a response declares headers that name the next page, or the number of all items. */
export function hasPagingHeaders({ headers }: JsonObject): boolean {
  return Object.keys(objectOr(headers)).some((name) => pagingHeaders.has(name.toLowerCase()));
}

/** `properties` and `required` of an answer, with `next` and `total` where it has no such members of its own. */
export function withPageMembers(answer: JsonObject, inputs: JsonObject): JsonObject {
  const properties = propertiesOf({ properties: inputs }).map(([name, schema]) => [
    name,
    { ...typeOf(schema), description: `The input ${name}.` },
  ]);
  const next = {
    type: ['object', 'null'],
    description: nextText,
    properties: Object.fromEntries(properties),
  };
  return { ...answer, properties: { next, total, ...membersOf(answer) } };
}

function typeOf({ type, items }: JsonObject): JsonObject {
  return { ...(type !== undefined && { type }), ...(isObject(items) && { items: typeOf(items) }) };
}

/** An answer without the members that come from headers. */
export function withoutPageMembers(answer: JsonObject, outputSchema: JsonObject): JsonObject {
  const members = membersOf(outputSchema);
  const isOfHeaders = (name: string) => {
    const { description } = objectOr(members[name]);
    return (
      (name === 'next' && description === nextText) || (name === 'total' && description === total.description)
    );
  };
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !isOfHeaders(name)));
}
