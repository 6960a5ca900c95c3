import { describe, expect, it } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { toImportedTool } from '../../src/import/imported-tool.ts';
import { prepareTools } from '../../src/import/prepare.ts';
import { planTool } from '../../src/plan/tool-files.ts';
import { readTemplates } from '../../src/project/package/templates.ts';
import { render } from '../../src/render/render.ts';
import { readToolSource } from '../../src/typescript/tool-source.ts';
import fc from '../fast-check.ts';
import { toolSpec } from '../fields/arbitraries.ts';
import { preparedTools } from '../plan/prepared.ts';

const templates = readTemplates();

/** The rendered source of a tool. */
function sourceOf(tool: Parameters<typeof planTool>[0]): string {
  const [file] = render(planTool(tool), templates).values();
  return new TextDecoder().decode(file?.content);
}

describe('the source of a tool', () => {
  it.each(preparedTools)('gives the definition that it was rendered from: $definition.name', (tool) => {
    const { definition } = tool;
    expect(readToolSource(sourceOf(tool))).toEqual({
      exportsTool: true,
      name: definition.name,
      description: definition.description,
      definition,
      methods: [],
    });
  });

  it('gives the definition for every spec', () => {
    fc.assert(
      fc.property(toolSpec, (spec) => {
        const preparation = prepareTools([spec].map(toImportedTool), generic);
        const [tool] = preparation.ok ? preparation.value.tools : [];
        fc.pre(tool !== undefined);
        expect(readToolSource(sourceOf(tool)).definition).toEqual(tool.definition);
      }),
      { numRuns: 20 },
    );
  });

  it('may be formatted and arranged differently', () => {
    const text = `\ufeff// mine
      import { defineTool as _d, defineTool, signals } from "../server/define-tool.ts"
      const words = "Returns " + 'it; ' + \`use it
well.\` as const
      const shared: JsonObject = { type: "string", minimum: -1.5e3, list: [1, ...[2, 3],], }
      const pattern = /["'{]/g, half = a / b / c
      /* { */ const tool = defineTool({
        async run({ a }, { found }) { return found({ x: \`\${ \`}\` }\` }) },
        get examples() { return [] },
        description: (words),
        inputSchema: { type: 'object', properties: { ['a']: shared }, required: [] } satisfies ObjectSchema,
        name: "get_\\x69t\\u{21}",
        "outputSchema": { ...{ type: 'object' }, properties: { ...signals, }, required: [] } as const
      })
      export default tool`.replaceAll('\n', '\r\n');
    expect(readToolSource(text)).toMatchObject({
      exportsTool: true,
      name: 'get_it!',
      definition: {
        description: 'Returns it; use it\nwell.',
        inputSchema: { properties: { a: { type: 'string', minimum: -1500, list: [1, 2, 3] } } },
        outputSchema: { type: 'object', properties: { searchExhausted: { type: 'boolean' } } },
      },
    });
  });

  it.each<[test: string, text: string, name: string | null, description?: string | null]>([
    ['a computed name', `export default defineTool({ name: nameOf('x'), description: 'd' })`, null, 'd'],
    ['a description with a hole', "export default defineTool({ name: 'x', description: `a ${b}` })", 'x'],
    ['what a spread may hide', "export default defineTool({ name: 'x', ...base })", null],
    ['a spread before the name', "export default defineTool({ ...base, name: 'x' })", 'x'],
    ['a value that goes on', "export default defineTool({ name: 'x', description: 'a'.trim() })", 'x'],
    ['a constant of itself', 'const a = a; export default defineTool({ name: a })', null],
    ['export as', "const t = defineTool({ name: 'x' }); export { t as default }", 'x'],
  ])('%s is not guessed', (_, text, name, description: string | null = null) => {
    expect(readToolSource(text)).toEqual({
      exportsTool: true,
      name,
      description,
      definition: null,
      methods: [],
    });
  });

  it.each([
    '',
    'export const x = defineTool({ name: "x" })',
    'export default { name: "x" }',
    '// export default defineTool({',
    'export default',
    "const text = 'export default defineTool({})'",
  ])('%j is not a tool', (text) => {
    expect(readToolSource(text).exportsTool).toBe(false);
  });

  it('never throws for any text', () => {
    const pieces = fc.constantFrom(
      ...[
        'export default ',
        'defineTool(',
        '{',
        '}',
        '[',
        '...',
        'name',
        ':',
        "'x'",
        '`',
        '${',
        ',',
        '(',
        ')',
        '-',
        '+',
        '\\',
        '/',
        '*/',
      ],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        readToolSource(`export default defineTool(${parts.join('')}`);
      }),
    );
    readToolSource(`export default defineTool({ name: '\\u{ffffff}' })`);
    readToolSource(`export default defineTool(${'['.repeat(100_000)}`);
    readToolSource(`export default defineTool({ name: ${'('.repeat(100_000)}`);
  });
});
