import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { context, generic } from '../../packages/contract/src/platforms/all.ts';
import { startImport } from '../../src/changes/import-run.ts';
import { importTools } from '../../src/changes/import-tools.ts';
import type { PartialAnswers } from '../../src/questions/partial-answers.ts';
import { toolAnswers } from '../../src/questions/tool-answers.ts';
import { apiDocuments } from '../import/api-documents.ts';
import { preparedOf } from '../import/prepared.ts';
import { directory } from '../project/directory.ts';

/** A tool of an operation of the documents, as the project of a platform gets it. */
async function toolOf(tool: string, given: PartialAnswers = {}, profile = context) {
  const { file, text, operation } = apiDocuments.find((one) => one.tool === tool) ?? apiDocuments[0] ?? {};
  const path = join(directory(), file ?? '');
  writeFileSync(path, text ?? '');
  const source = toolAnswers({ fromOpenapi: path, operation: [operation ?? ''], ...given });
  const { tools, changes } = preparedOf(unwrap(await importTools(source, profile, startImport())), profile);
  return {
    meta: tools[0]?.definition._meta,
    changes: changes.filter(({ path }) => path.startsWith('_meta')),
  };
}
const price = [{ path: ['pricing', 'executeUsd'], text: '0.01' }];

describe('the _meta of an operation', () => {
  it('that writes excludes the tool from queries, and reports what to add', async () => {
    const { meta, changes } = await toolOf('PostQuotes');
    expect(meta).toEqual({ queryEligible: false });
    expect(changes).toMatchObject([
      { tool: 'PostQuotes', path: '_meta.queryEligible', what: 'became false' },
    ]);
    expect(changes[0]?.why).toContain('pricing.executeUsd');
  });

  it('that writes and has a price lists the tool for execution', async () => {
    const { meta } = await toolOf('PostQuotes', { meta: price });
    expect(meta).toEqual({ surface: 'execute', queryEligible: false, pricing: { executeUsd: '0.01' } });
  });

  it("that writes keeps the author's values", async () => {
    const answers = [{ path: ['surface'], text: 'answer' }];
    expect((await toolOf('PostQuotes', { meta: answers })).meta).toEqual({ surface: 'answer' });
    expect((await toolOf('PostQuotes', { effect: 'reads' })).meta).toBeUndefined();
  });

  it('is unchanged if it reads, or the platform does not know these members', async () => {
    expect((await toolOf('getGas')).meta).toBeUndefined();
    expect((await toolOf('PostQuotes', {}, generic)).meta).toBeUndefined();
  });
});
