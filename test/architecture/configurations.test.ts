import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from '../e2e/support.ts';
import { ownSource } from '../own-source.ts';

const configurations = ['.', ...readdirSync(join(repository, 'test')).map((folder) => join('test', folder))]
  .map((folder) => join(folder, 'vitest.config.ts'))
  .filter((path) => existsSync(join(repository, path)));

it.each(configurations)('%s loads the source of the contract', async (path) => {
  const { default: options } = await import(join(repository, path));
  expect(options).toMatchObject(ownSource);
});
