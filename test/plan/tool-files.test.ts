import { describe, expect, it } from 'vitest';
import { compileSchema } from '../../packages/contract/src/json/compile.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { toolContext } from '../../src/plan/tool-files.ts';
import { gasPrice, hostileTool, listChains, preparedTools } from './prepared.ts';

describe("the context of a tool's templates", () => {
  it('uses the standard signals of the contract', () => {
    expect(toolContext(gasPrice).standardSignals).toEqual([
      'searchExhausted',
      'noResultsReason',
      'error',
      'message',
    ]);
    expect(toolContext(hostileTool).standardSignals).not.toContain('error');
  });

  it('writes out all signals if one is missing', () => {
    const { definition } = gasPrice;
    const { searchExhausted: _, ...properties } = definition.outputSchema.properties as JsonObject;
    const without = {
      ...gasPrice,
      definition: { ...definition, outputSchema: { ...definition.outputSchema, properties } },
    };
    expect(toolContext(without).standardSignals).toEqual([]);
  });

  it('uses possible arguments as keys of the samples', () => {
    expect(toolContext(gasPrice).key).toMatchObject({ name: 'chain', type: 'string' });
    expect(toolContext(hostileTool).key).toMatchObject({ name: 'a b', type: 'string | undefined' });
    expect(toolContext(listChains).key).toBeNull();
  });

  it('types the key as its parameter if only an absent argument has a sample', () => {
    const { definition } = gasPrice;
    const url = { type: 'string', format: 'uri', description: 'Address' };
    const inputSchema = { type: 'object', properties: { url }, required: [] };
    const tool = {
      ...gasPrice,
      definition: { ...definition, inputSchema },
      keyParameter: 'url',
      samples: [{ key: null, answer: { gwei: 1 } }],
    };
    expect(toolContext(tool).key?.type).toBe('string | undefined');
  });

  it.each(preparedTools)('tests $definition.name with values that its schemas refuse', (tool) => {
    const { tests } = toolContext(tool);
    const { inputSchema, outputSchema } = tool.definition;
    expect(compileSchema(inputSchema)(tests.valid)).toBe(true);
    if (tests.invalid) expect(compileSchema(inputSchema)(tests.invalid)).toBe(false);
    expect(compileSchema(outputSchema)(tests.wrongAnswer)).toBe(false);
  });

  it('has no invalid call for a tool that accepts everything', () => {
    expect(toolContext(listChains).tests.invalid).toBeNull();
    expect(toolContext(gasPrice).tests.invalid).toEqual({ chain: 42 });
  });
});
