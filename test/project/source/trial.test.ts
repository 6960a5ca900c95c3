import { expect, it } from 'vitest';
import { startApi } from '../../api-server.ts';
import { sendCommand } from './command.ts';

const { origin } = await startApi(({ headers }) =>
  headers['content-type'] === 'application/json'
    ? { body: { ok: true } }
    : { status: 415, body: { message: 'JSON only' } },
);

const send = (options: string) => sendCommand(`curl ${origin}/a ${options}`);

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

it('JSON that names a media type of HTML is not taken for a page', async () => {
  const mail = await startApi(() => ({ body: { type: 'text/html', subject: 'Hello' } }));
  await expect(sendCommand(`curl ${mail.origin}/mail`)).resolves.toMatchObject({ status: 200 });
});

it.each([
  ['number', '42'],
  ['text', '"sunny"'],
  ['null', 'null'],
])('a JSON %s is reported as JSON that no tool can return', async (_, body) => {
  const scalar = await startApi(() => ({ body }));
  await expect(sendCommand(`curl ${scalar.origin}/scalar`)).rejects.toMatchObject({
    code: 'NOT_ANSWERED',
    message: expect.stringContaining(`was answered with JSON that is neither an object nor a list: ${body}`),
  });
});

it('a text that is not JSON is reported as such', async () => {
  const plain = await startApi(() => ({ body: 'sunny', headers: { 'content-type': 'text/plain' } }));
  await expect(sendCommand(`curl ${plain.origin}/plain`)).rejects.toMatchObject({
    message: expect.stringContaining('was answered with something else than JSON: "sunny"'),
  });
});
