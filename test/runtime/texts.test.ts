import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CallResult } from '../../packages/runtime/src/server/call-result.ts';
import type { Tool } from '../../packages/runtime/src/server/define-tool.ts';
import { createRequestId } from '../../packages/runtime/src/server/log.ts';
import { callTool } from '../../packages/runtime/src/testing.ts';
import { nodesIn, treeOf } from '../../src/typescript/tree.ts';
import fc from '../fast-check.ts';
import { echo, heldTool, lying, textTool, throwing } from './tools.ts';

const templates = join(import.meta.dirname, '../../templates');
const runtime = join(import.meta.dirname, '../../packages/runtime/src/server');

/** Words that make the public marketplace call again (its public source: app lib/ai/skills/mcp.ts). */
const retried =
  /ECONNRESET|ETIMEDOUT|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|socket hang up|network|timeout|rate limit|too many requests|throttl|408|429|500|502|503|504/i;

/** The texts in a source file: strings and the parts of templates, without import paths and comments. */
function textsOf(source: string): string[] {
  const tree = treeOf(source);
  if (!tree) throw new Error(`not TypeScript: ${source}`);
  const code = tree.program.body.filter(({ type }) => type !== 'ImportDeclaration');
  return code
    .flatMap((statement) => [...nodesIn(statement)])
    .flatMap((node) => {
      if (node.type === 'TemplateElement') return node.value.raw;
      return node.type === 'StringLiteral' || node.type === 'DirectiveLiteral' ? node.value : [];
    });
}

describe('no text of the runtime makes the platform retry', () => {
  const files = readdirSync(runtime);

  test.each(files)('server/%s', (file) => {
    const texts = textsOf(readFileSync(join(runtime, file), 'utf8'));
    // Names of errors that are compared, not sent, and the one failure that invites a platform to call a reading tool again.
    const allowed = ['TimeoutError', 'ENOTFOUND', '(503). Call it again.'];
    const others = texts.filter((text) => !allowed.some((part) => text.includes(part)));
    expect(others.filter((text) => retried.test(text))).toEqual([]);
  });

  test.each(['tool.ts.hbs', 'test.ts.hbs'])('tool/%s', (file) => {
    const source = readFileSync(join(templates, 'tool', file), 'utf8').replace(/\{\{.*?\}\}/g, '');
    const texts = source.match(/'[^'\n]*'|`[^`]*`/g) ?? [];
    expect(texts.length).toBeGreaterThan(4);
    const sent = texts.filter((text) => !text.includes('ECONNREFUSED'));
    expect(sent.filter((text) => retried.test(text))).toEqual([]);
  });

  test('the search finds such words', () => {
    expect(textsOf("import x from './timeout'; // timeout\nfail(`a ${b} timeout`, 'network')")).toEqual([
      'a ',
      ' timeout',
      'network',
    ]);
  });
});

describe('no failure of the runtime makes the platform retry', () => {
  const quiet = { report: () => {} };
  const textOf = ({ content, isError }: CallResult) => {
    expect(isError).toBe(true);
    return content.map(({ text }) => text).join();
  };

  test('deadline, cancellation, exception, mismatch', async () => {
    const results = [
      await callTool(heldTool().tool, {}, { ...quiet, timeoutMs: 500 }),
      await callTool(heldTool().tool, {}, { ...quiet, signal: AbortSignal.abort() }),
      await callTool(throwing, {}, quiet),
      await callTool(lying, {}, quiet),
      await callTool(
        textTool('down', () => Promise.reject(new Error('ECONNRESET'))),
        {},
        quiet,
      ),
    ];
    for (const result of results) expect(textOf(result)).not.toMatch(retried);
  });

  test('an invalid argument is reported with its value, unless that value would', async () => {
    const limited = (name: string, schema: object): Tool => ({
      ...echo,
      inputSchema: { type: 'object', properties: { [name]: schema }, required: [] },
    });
    const messageOf = async (tool: Tool, value: unknown) => {
      const name = Object.keys(tool.inputSchema.properties)[0] ?? '';
      const { structuredContent } = await callTool(tool, { [name]: value } as never, quiet);
      return structuredContent?.message;
    };
    const limit = { type: 'integer', maximum: 500 };
    expect(await messageOf(limited('limit', { type: 'integer', maximum: 50 }), 60)).toBe(
      'arguments.limit: must be <= 50, got 60',
    );
    expect(await messageOf(limited('limit', limit), 600)).toBe(
      'arguments.limit: does not match the inputSchema',
    );
    expect(await messageOf(limited('limit', { type: 'string' }), 4290)).toBe(
      'arguments.limit: does not match the inputSchema',
    );
    expect(await messageOf(limited('network', limit), 600)).toBe(
      'arguments: one does not match the inputSchema',
    );
  });

  test('for any arguments', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom('value', 'timeout', '500', 'x'), fc.jsonValue()),
        async (args) => {
          const closed = { ...echo, inputSchema: { ...echo.inputSchema, additionalProperties: false } };
          const result = await callTool(closed, args as never, quiet);
          if (result.isError) expect(textOf(result)).not.toMatch(retried);
        },
      ),
    );
  });

  test('incident ids have no digits and vowels, and are unique', () => {
    const ids = Array.from({ length: 2_000 }, createRequestId);
    for (const id of ids) expect(id).toMatch(/^[b-df-hj-np-tv-z]{20}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
