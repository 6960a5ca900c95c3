import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import type { ImportedTool } from '../../src/import/model.ts';
import { readOpenApi } from '../../src/import/openapi/document.ts';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import { apiDocuments } from './api-documents.ts';
import { preparedOf } from './prepared.ts';

/** A tool of each document. */
export async function preparedApiTools(): Promise<readonly ImportedTool[]> {
  const imported = await Promise.all(
    apiDocuments.map(async ({ file, text, operation }) => {
      const document = unwrap(await readOpenApi(text, file));
      return unwrap(toolsOfDocument(document, { operations: [operation], tool: null }, file, null));
    }),
  );
  return preparedOf(imported.flat()).tools;
}
