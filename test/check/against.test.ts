import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listingIn } from '../../packages/contract/src/check/listing-files.ts';
import { directory } from '../project/directory.ts';

function file(content: string | Uint8Array): string {
  const path = join(directory(), 'listing');
  writeFileSync(path, content);
  return path;
}

const of = (tools: string) => `{"tools":${tools}}`;
const tool = { name: 'get_price', description: 'Returns a price.', inputSchema: { type: 'object' } };

describe('a file of --against that no server wrote', () => {
  it.each<[string, string | Uint8Array, RegExp]>([
    ['binary', Buffer.from([0x89, 0xff, 0xfe, 0x00]), /not UTF-8/],
    ['UTF-16', Buffer.from('\ufeff{"tools":[]}', 'utf16le'), /not UTF-8/],
    ['empty', '', /input is empty/],
    ['null bytes', '\0\0', /null byte/],
    ['cut off', '{"tools":[{"name"', /listing:1:/],
    ['deep', of(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), /nested/],
    ['a deep schema', of(`[{"inputSchema":${'{"not":'.repeat(9_000)}{}${'}'.repeat(9_000)}}]`), /nested/],
    ['a bomb of aliases', `a: &a [x,x]\nb: &b [*a,*a]\ntools: [${'*b,'.repeat(99_999)}*b]\n`, /maxAliases/],
    ['__proto__', of('[{"name":"a","__proto__":{"x":1}}]'), /__proto__ cannot be a key/],
    ['a number', '5', /contains no list of tools/],
    ['a list that is an object', of('{"a":1}'), /contains no list of tools/],
    ['a result without a list', '{"result":{"tools":5}}', /contains no list of tools/],
  ])('%s is an error that names it', async (_, content, message) => {
    const path = file(content);
    await expect(listingIn(path)).rejects.toThrow(message);
    await expect(listingIn(path)).rejects.toThrow(path);
  });

  it.each<[string, string, readonly string[]]>([
    ['no tools', '[null,5,"x",[],{},{"name":5}]', ['tool.new']],
    ['a name of every object', '[{"name":"constructor"}]', ['tool.gone', 'tool.new']],
    [
      'members of every object',
      '[{"name":"get_price","description":"Returns a price.","toString":1,"inputSchema":{"type":"object","valueOf":{},"properties":{"constructor":{}}}}]',
      ['tool.text', 'input.limit.wider', 'input.member.gone'],
    ],
    [
      'other types',
      '[{"name":"get_price","description":5,"inputSchema":{"type":[1,null],"properties":[1],"required":{"a":1}}}]',
      ['tool.text', 'input.type.other'],
    ],
  ])('is compared if it lists %s', async (_, tools, ids) => {
    const changes = (await listingIn(file(of(tools)))).changesTo([tool]);
    expect(changes.map(({ rule }) => rule).toSorted()).toEqual([...ids].toSorted());
    expect(JSON.stringify(changes)).not.toContain('native code');
    for (const { after } of changes) expect(typeof after).not.toBe('function');
  });
});
