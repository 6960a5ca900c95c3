import { expect, it } from 'vitest';
import { unwrap } from '../../../packages/contract/src/command/command-error.ts';
import { givenArguments } from '../../../src/changes/sending.ts';
import { fieldsSchema } from '../../../src/fields/shape.ts';
import { curlRequest } from '../../../src/import/request/curl.ts';
import { readRequest } from '../../../src/import/request/index.ts';
import { tryRequest } from '../../../src/project/source/trial.ts';
import { startApi } from '../../api-server.ts';

const { origin } = await startApi(({ headers }) =>
  headers['content-type'] === 'application/json'
    ? { body: { ok: true } }
    : { status: 415, body: { message: 'JSON only' } },
);

function send(options: string) {
  const line = `curl ${origin}/a ${options}`;
  const { call, input } = unwrap(readRequest(curlRequest(line), { input: [], constants: [] }));
  return tryRequest(call, givenArguments(fieldsSchema(input)), () => '', false);
}

it('an API that rejects JSON sent as a form is an error that names the header to add', async () => {
  await expect(send(`-d '{"a":1}'`)).rejects.toMatchObject({
    code: 'NOT_ANSWERED',
    message: expect.stringContaining('HTTP 415'),
    hint: expect.stringContaining("add -H 'content-type: application/json'"),
  });
  await expect(send(`-d '{"a":1}' -H 'content-type: application/json'`)).resolves.toMatchObject({
    status: 200,
  });
});

it('an API that rejects a form is an error without advice about JSON', async () => {
  await expect(send('-d a=1')).rejects.toMatchObject({ hint: 'Correct the command. Nothing was written.' });
});
