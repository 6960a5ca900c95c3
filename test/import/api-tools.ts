import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import type { CheckedTool } from '../../src/import/imported-tool.ts';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import { readOpenApi } from '../../src/import/openapi/openapi-document.ts';
import { apiDocuments } from './api-documents.ts';
import { preparedOf } from './prepared.ts';

/** A tool of each document. */
export async function preparedApiTools(): Promise<readonly CheckedTool[]> {
  const imported = await Promise.all(
    apiDocuments.map(async ({ file, text, operation }) => {
      const document = unwrap(await readOpenApi(text, file));
      return unwrap(toolsOfDocument(document, { operations: [operation], tool: null }, file, null));
    }),
  );
  return preparedOf(imported.flat()).tools;
}
