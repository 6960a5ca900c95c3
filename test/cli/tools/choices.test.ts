import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { base } from '../../import/openapi.ts';
import { directory } from '../../project/directory.ts';
import { market } from '../sinks.ts';

/** @param file with a name of its own: a run reads each name once */
const list = (file: string, paths: object, ...more: string[]) => {
  const root = directory();
  writeFileSync(join(root, file), JSON.stringify({ ...base, paths }));
  return market(root, ['add-tool', '--from-openapi', file, ...more]);
};
const missing = { '/a': { $ref: './a.yaml' }, '/b': { $ref: './b.yaml' } };

it('a list of operations says which ones cannot be imported because of their references', async () => {
  const paths = { ...missing, '/c': { get: { summary: 'The gas price' } } };
  const { exitCode, stdout } = await list('some.json', paths);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('1 operation.');
  expect(stdout).toMatch(
    /^! Cannot be imported: \/a: the reference "\.\/a\.yaml" cannot be followed: a\.yaml: there is no/m,
  );
  const { leftOut } = JSON.parse((await list('some.json', paths, '--json')).stdout);
  expect(leftOut).toEqual([expect.stringContaining('/a: '), expect.stringContaining('/b: ')]);
});

it('a document whose operations are all in missing files is refused', async () => {
  const { exitCode, stderr } = await list('none.json', missing);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('none.json#/paths/~1a "/a": the reference "./a.yaml" cannot be followed');
});
