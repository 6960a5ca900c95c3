import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../json/value.ts';
import type { Example, Explanation, Explanations } from './explanation.ts';

/**
 * An explanation of every rule of the catalogue, by its id, from the Markdown file of its group. Under the heading of a rule
 * are the reason and one block of the changes from the failing example to the passing one; `diff tools` is parts of tools.
 * The build replaces this module by what it reads.
 */
export const explanations: Explanations = Object.fromEntries(
  readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => explanationsIn(readFileSync(join(import.meta.dirname, file), 'utf8'))),
);

function explanationsIn(text: string): readonly (readonly [id: string, Explanation])[] {
  const sections = text.matchAll(/^## (\S+)\n\n((?:[^\n]+\n)+)\n```diff( tools)?\n(.*?)\n```$/gms);
  return [...sections].map(([, id = '', reason = '', tools, changes = '']) => {
    const side = (otherSide: string): Example => {
      const lines = changes.split('\n').filter((line) => !line.startsWith(otherSide));
      const example = lines.map((line) => line.slice(2)).join('\n');
      if (tools) return [JSON.parse(example)].flat() as readonly JsonObject[];
      return example;
    };
    const reasonText = reason.trimEnd().replaceAll('\n', ' ');
    return [id, { why: reasonText, failing: side('+'), passing: side('-') }];
  });
}
