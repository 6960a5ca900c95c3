import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startImport } from '../../src/changes/import-run.ts';
import { toolsFromOpenApi } from '../../src/changes/openapi.ts';
import { openApiAnswers } from '../../src/questions/tool-answers.ts';
import { startApi } from '../api-server.ts';
import { openApi } from '../e2e/upstreams.ts';
import { directory } from '../project/directory.ts';

it('a saved list and the list that a sent operation returns define the tool together', async () => {
  const { origin } = await startApi(() => ({ body: [{ price: 1.5 }] }));
  const get = { responses: { 200: { description: 'ok' } } };
  const document = join(directory(), 'api.json');
  writeFileSync(document, JSON.stringify(openApi(origin, 'Gas', { '/a': { get } }, {})));
  const saved = join(directory(), 'saved.json');
  writeFileSync(saved, JSON.stringify([{ price: 2.5 }]));
  const answers = { fromOpenapi: document, operation: ['GET /a'], send: true, fromSample: [saved] };
  expect(await toolsFromOpenApi(openApiAnswers(answers), startImport())).toMatchObject({
    ok: true,
    value: [
      {
        sampleAnswers: [{ items: [{ price: 2.5 }] }, { items: [{ price: 1.5 }] }],
        call: { wrap: 'items' },
        exchanges: [{ answer: { items: [{ price: 1.5 }] } }],
      },
    ],
  });
});

it('an operation of a document without an address is not sent, and the error says so', async () => {
  const document = join(directory(), 'api.json');
  const paths = { '/a': { get: { responses: { 200: { description: 'ok' } } } } };
  writeFileSync(document, JSON.stringify({ openapi: '3.1.0', info: { title: 'T' }, paths }));
  const answers = openApiAnswers({ fromOpenapi: document, operation: ['GET /a'], send: true });
  expect(await toolsFromOpenApi(answers, startImport())).toMatchObject({
    ok: false,
    errors: [{ message: 'needs the address of the API, which the document does not state' }],
  });
});
