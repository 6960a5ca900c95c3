import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pack, unpack } from '../../../src/project/package/releases.ts';
import { readTemplates, templatesBelow } from '../../../src/project/package/templates.ts';
import fc from '../../fast-check.ts';

const content = fc.uint8Array({ maxLength: 50 });
const templates = fc.dictionary(fc.string({ unit: 'binary', minLength: 1 }), content);

/** Bytes as numbers: a view of a buffer equals a separate array. */
const bytesOf = (set: ReadonlyMap<string, Uint8Array>) => [...set].map(([path, bytes]) => [path, [...bytes]]);

it('the entries of an archive are unpacked unchanged, in order', () => {
  fc.assert(
    fc.property(templates, (members) => {
      const set = new Map(Object.entries(members));
      expect(bytesOf(unpack(pack(set)))).toEqual(bytesOf(set));
    }),
  );
});

it('readTemplates reads the directory of the checkout', () => {
  const templates = readTemplates();
  expect(templates).toEqual(templatesBelow(join(import.meta.dirname, '../../../templates')));
  expect([...templates.keys()]).toContain('project/src/platform.ts.hbs');
});
