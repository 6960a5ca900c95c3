import { describe, expect, it } from 'vitest';
import { printLiteral, propertyText } from '../../src/render/literal.ts';
import { readToolSource, withOutputSchema } from '../../src/typescript/tool-source.ts';

const print = { value: printLiteral, member: propertyText };

const source = `import { defineTool, signals } from 'market-mcp-runtime'
const kind = { type: "string" } as const;
const outputSchema = {
\ttype: 'object',
\tproperties: {
\t\t...signals, // as every tool
\t\tkind,
\t\tprice: { type: "number",   description: 'Price' }, /* in EUR */
\t\tdeep: {
\t\t\ttype: 'object',
\t\t\tproperties: {
\t\t\t\ta: { type: 'string' } // the last one, without a comma
\t\t\t},
\t\t},
\t},
\trequired: ['price'],
} as const;
export default defineTool({ name: 'x', description: 'X.', inputSchema: { type: 'object', properties: {} }, outputSchema, run() {} });
`;

const before = readToolSource(source).definition?.outputSchema as never as {
  properties: { [name: string]: object };
};
const wider = (members: object) => ({ ...before, properties: { ...before.properties, ...members } });
const changed = (members: object, text = source) => withOutputSchema(text, wider(members) as never, print);

describe('another outputSchema in the source of a tool', () => {
  it.each(['\n', '\r\n'])('changes the parts that differ, and no other byte: %j', (end) => {
    const text = source.replaceAll('\n', end);
    const members = {
      price: { type: ['number', 'null'], description: 'Price' },
      deep: { type: 'object', properties: { a: { type: 'string' }, "it's": { type: 'boolean' } } },
      new: { type: 'integer' },
    };
    const expected = source
      .replace('"number",   ', "['number', 'null'],   ")
      .replace(
        ' } // the last one, without a comma\n',
        " }, // the last one, without a comma\n\t\t\t\t\"it's\": { type: 'boolean' },\n",
      )
      .replace('\t\t},\n\t},\n\trequired', "\t\t},\n\t\tnew: { type: 'integer' },\n\t},\n\trequired");
    expect(changed(members, text)).toBe(expected.replaceAll('\n', end));
  });

  it('is refused where a part that differs is no literal of its own', () => {
    expect(changed({ kind: { type: ['string', 'null'] } })).toBeUndefined();
    expect(changed({ error: { type: 'integer' } })).toBeUndefined();
    const computed = source.replace("'Price'", "String('Price')");
    expect(changed({ price: { type: 'null' } }, computed)).toBeUndefined();
    const commented = source.replace('"number",', '["number" /* or text */],');
    expect(changed({ price: { type: ['number', 'null'], description: 'Price' } }, commented)).toBeUndefined();
  });

  it.each([
    [
      "\n    ...signals,\n    result: { type: 'string' },\n  ",
      "\n    ...signals,\n    a: { type: 'null' },\n  ",
    ],
    [
      "\n    ...signals,\n    result: { type: 'string' }\n  ",
      "\n    ...signals,\n    a: { type: 'null' },\n  ",
    ],
    [" ...signals, result: { type: 'string' } ", " ...signals, a: { type: 'null' } "],
    ["\n    ...signals, // all\n    result: { type: 'string' },\n  ", undefined],
  ])('has no member any more beside a spread: %j', (members, expected) => {
    const text = (inside: string) =>
      `import { defineTool } from 'market-mcp-runtime';\nexport default defineTool({ name: 'x', description: 'X.', inputSchema: {}, outputSchema: {\n  properties: {${inside}}\n} });\n`;
    const read = readToolSource(text(members)).definition?.outputSchema.properties;
    const { result: _, ...others } = { result: null, ...(read as object) };
    const after = { properties: { ...others, a: { type: 'null' } } };
    expect(withOutputSchema(text(members), after, print)).toBe(expected && text(expected));
  });
});
