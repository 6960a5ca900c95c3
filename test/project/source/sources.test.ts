import { describe, expect, it } from 'vitest';
import { withSourceDependencies } from '../../../src/project/source/sources.ts';

describe('the script record of a package.json', () => {
  it.each([
    [undefined, 'market-mcp record'],
    ['market-mcp record --call buy', 'market-mcp record --call buy'],
    ['node my-own.js', 'node my-own.js'],
  ])('%s becomes %s', (record, expected) => {
    const scripts = { build: 'tsc', ...(record !== undefined && { record }) };
    const next = JSON.parse(withSourceDependencies(JSON.stringify({ scripts, dependencies: {} })));
    expect(next.scripts).toEqual({ build: 'tsc', record: expected });
  });
});
