import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { saveKeys } from '../../src/changes/save-keys.ts';
import { directory } from '../project/directory.ts';

/** Saves a key in a project whose `.env` has this text. */
async function saved(text: string) {
  const project = directory();
  writeFileSync(join(project, '.gitignore'), '.env\n');
  writeFileSync(join(project, '.env'), text);
  const result = await saveKeys(project, new Map([['API_KEY', 'new-key']]));
  return { sentence: result?.sentence, text: readFileSync(join(project, '.env'), 'utf8') };
}

it('a key is added to a .env in which its variable is empty, and nothing is said to be kept', async () => {
  expect(await saved('API_KEY=\n')).toEqual({
    sentence: 'API_KEY in .env, which only you can read',
    text: 'API_KEY=\nAPI_KEY=new-key\n',
  });
});

it('a .env keeps another value of its own, and the sentence says so', async () => {
  const kept = await saved('API_KEY=own-key\n');
  expect(kept.text).toBe('API_KEY=own-key\n');
  expect(kept.sentence).toContain('.env keeps its own API_KEY');
});
