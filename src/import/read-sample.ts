import { pass, type Result, reject } from 'market-mcp-contract/command';
import { readDocument } from 'market-mcp-contract/document';
import { shorten, withLargeIntegersAsText } from 'market-mcp-contract/json';
import type { AnswerSample } from './sample.ts';

/**
 * Reads a saved answer. Integers that a JavaScript number cannot represent become texts.
 *
 * @param name of its file, for the errors
 */
export function readSample(sampleText: string, name: string): Result<AnswerSample> {
  if (sampleText.trim() === '')
    return reject(name, undefined, 'is empty', 'Give a file with an answer of the API.');
  const { text, integers } = withLargeIntegersAsText(sampleText);
  const document = readDocument(text, name, { notJson: (flaw) => notJson(sampleText, name, flaw) });
  if (document.ok) return pass({ name, value: document.value, largeIntegers: integers });
  return document;
}

function notJson(text: string, name: string, flaw: string): Result<never> {
  const start = text.trimStart();
  const hint = 'Save the answer in JSON: many APIs have a parameter or an Accept header for it.';
  if (start.startsWith('<')) return reject(name, undefined, 'is XML or HTML, not JSON', hint);
  if (!/^[[{]/.test(start))
    return reject(name, undefined, `is CSV or another text, not JSON: ${shorten(start, 40)}`, hint);
  if (/after JSON/.test(flaw))
    return reject(
      name,
      undefined,
      `is not one JSON value: ${flaw}`,
      'Put the values into one list: [ …, … ].',
    );
  return reject(name, undefined, `is not valid JSON: ${flaw}`, 'Correct the file, or save the answer again.');
}
