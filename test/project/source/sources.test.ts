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

  it('is added without a change of line ends and of the byte order mark', () => {
    const next = withSourceDependencies('\ufeff{\r\n  "scripts": {}\r\n}\r\n');
    expect(next).toMatch(/^\ufeff\{\r\n {2}"scripts": \{\r\n {4}"record": "market-mcp record"\r\n/);
    expect(next).not.toMatch(/[^\r]\n/);
  });
});
