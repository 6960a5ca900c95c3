import {
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  objectOr,
  propertiesOf,
} from 'market-mcp-contract/json';

const total = { type: 'integer', description: 'Number of all items, on all pages, as the API says.' };
const nextText = 'Arguments of the call for the next page; null if there is none.';

/** What headers of answers say about pages, by their names in lower case. */
const pagingHeaders = new Map([
  ['link', 'next'],
  ['x-next-page', 'next'],
  ['x-total-count', 'total'],
  ['x-total', 'total'],
  ['total-count', 'total'],
] as const);

/** The members that headers of an answer fill. */
export type PageMembers = ReadonlySet<'next' | 'total'>;

/** @param headers by name: those that a response declares, or those of an answer */
export function pageMembersIn(headers: Json | undefined): PageMembers {
  const headerMeanings: ReadonlyMap<string, 'next' | 'total'> = pagingHeaders;
  return new Set(
    Object.keys(objectOr(headers)).flatMap((name) => headerMeanings.get(name.toLowerCase()) ?? []),
  );
}

/** `properties` and `required` of an answer, with the members of headers where it has no such members. */
export function withPageMembers(answer: JsonObject, inputs: JsonObject, members: PageMembers): JsonObject {
  const properties = propertiesOf({ properties: inputs }).map(([name, schema]) => [
    name,
    { ...bareType(schema), description: `The input ${name}.` },
  ]);
  const next = {
    type: ['object', 'null'],
    description: nextText,
    properties: Object.fromEntries(properties),
  };
  const added = { ...(members.has('next') && { next }), ...(members.has('total') && { total }) };
  return { ...answer, properties: { ...added, ...membersOf(answer) } };
}

function bareType({ type, items }: JsonObject): JsonObject {
  return { ...(type !== undefined && { type }), ...(isObject(items) && { items: bareType(items) }) };
}

/** An answer without the members that come from headers. */
export function withoutPageMembers(answer: JsonObject, outputSchema: JsonObject): JsonObject {
  const members = membersOf(outputSchema);
  const isFromHeader = (name: string) => {
    const { description } = objectOr(members[name]);
    return (
      (name === 'next' && description === nextText) || (name === 'total' && description === total.description)
    );
  };
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !isFromHeader(name)));
}
