import { context } from '../../packages/contract/src/platforms/context.ts';
import type { ImportedTool } from '../../src/import/model.ts';
import { readOpenApi } from '../../src/import/openapi/document.ts';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import { prepare } from '../../src/import/prepare.ts';
import { apiDocuments } from './api-documents.ts';

/** A tool of each document. */
export async function preparedApiTools(): Promise<readonly ImportedTool[]> {
  const imported = await Promise.all(
    apiDocuments.map(async ({ file, text, operation }) => {
      const document = await readOpenApi(text, file);
      if (!document.ok) throw new Error(JSON.stringify(document.errors));
      const tools = toolsOfDocument(document.value, { operations: [operation], tool: null }, file, null);
      if (!tools.ok) throw new Error(JSON.stringify(tools.errors));
      return tools.value;
    }),
  );
  const preparation = prepare(imported.flat(), context);
  if (!preparation.ok) throw new Error(JSON.stringify(preparation.errors));
  return preparation.prepared.tools;
}
