import type { Example } from './model.ts';

/** Where a rule comes from, in words: `C§4.1` is a section of the contract, `app x.ts` a file of the marketplace. */
export function originOf(source: string): string {
  return source
    .replaceAll(
      /C§[\d.]+(?:, C§[\d.]+)*/g,
      (sections) => `the tool server contract, ${sections.replaceAll('C', '')}`,
    )
    .replace(/^app (?=[\w/-]+)/, "the marketplace's public source, ")
    .replace(/\bdocs (?=[\w/-]+\.mdx)/, "the marketplace's documentation, ");
}

/** An example of an explanation as text. */
export function exampleText(example: Example): string {
  return typeof example === 'string'
    ? example
    : example.map((part) => JSON.stringify(part, null, 2)).join('\n');
}
