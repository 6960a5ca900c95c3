import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startApi } from '../api-server.ts';
import {
  compile,
  create,
  evaluated,
  expectProven,
  lendModules,
  market,
  scratch,
  succeeded,
} from './support.ts';

const root = scratch();
const type = 'application/vnd.api+json';
const { origin, requests } = await startApi(() => ({
  headers: { 'content-type': type },
  body: { state: 'sent' },
}));

const answer = { type: 'object', properties: { state: { type: 'string', description: 'State' } } };
const body = {
  type: 'object',
  required: ['email'],
  properties: { email: { type: 'string', example: 'a@b.example' } },
};
const operation = (operationId: string, bodyType: string) => ({
  operationId,
  requestBody: { required: true, content: { [bodyType]: { schema: body } } },
  responses: {
    200: { description: 'ok', content: { [type]: { schema: answer, example: { state: 'sent' } } } },
  },
});
const document = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  servers: [{ url: origin }],
  paths: {
    '/orders': {
      post: operation('addOrder', type),
      patch: operation('updateOrder', 'application/merge-patch+json'),
    },
  },
};

const commands = [
  ['get_text', `curl ${origin}/text -d 'SELECT 1'`],
  ['get_csv', `curl ${origin}/csv -H 'content-type: text/csv' --data-binary $'a,b\\n1,2'`],
  ['get_parts', `curl ${origin}/parts -F to=a@b.example -F to=c@d.example -F subject=Hello`],
  [
    'get_rpc',
    `curl ${origin}/rpc -H 'content-type: text/plain;' -d '{"method":"getblockhash","params":[1000]}'`,
  ],
  [
    'get_patch',
    `curl -X PATCH ${origin}/patch -H 'content-type: application/json-patch+json' -d '[{"op":"replace","path":"/a","value":"x"}]'`,
  ],
  [
    'get_none',
    `curl -X POST ${origin}/none?wsdl -H 'content-type: application/json' -H 'authorization: Basic opaque'`,
  ],
] as const;

it('a tool sends the media types of its document, and the bodies and headers of its command, from the trial and from each call', async () => {
  const file = join(root, 'orders.json');
  writeFileSync(file, JSON.stringify(document));
  const flags = ['--yes', '--json', '--no-install', '--no-git'];
  const operations = ['--operation', 'addOrder', '--operation', 'updateOrder'];
  const created = await succeeded(
    create(['orders', ...flags, '--from-openapi', file, ...operations], { cwd: root }),
  );
  const { directory } = JSON.parse(created.stdout);
  for (const [tool, command] of commands) {
    const args = ['add-tool', tool, '--yes', '--json', '--no-check', '--effect', 'reads'];
    await succeeded(market([...args, '--from-request', command], { cwd: directory }));
  }
  const trials = requests.splice(0).map(seen);
  expect(trials).toEqual([
    ['POST /text', 'application/x-www-form-urlencoded', 'SELECT 1'],
    ['POST /csv', 'text/csv', 'a,b\n1,2'],
    ['POST /parts', 'multipart/form-data', 'to=a@b.example, to=c@d.example, subject=Hello'],
    ['POST /rpc', 'text/plain;', '{"method":"getblockhash","params":[1000]}'],
    ['PATCH /patch', 'application/json-patch+json', '[{"op":"replace","path":"/a","value":"x"}]'],
    ['POST /none?wsdl', 'application/json', ''],
  ]);

  lendModules(directory);
  await succeeded(compile(directory));
  await expectProven(directory);
  expect(requests).toEqual([]);
  const { value } = await evaluated(
    directory,
    `const states = [];
    for (const tool of tools) states.push((await callTool(tool, tool.examples[0].arguments)).structuredContent.state);
    return states;`,
  );
  expect(value).toEqual(Array.from({ length: commands.length + 2 }, () => 'sent'));
  const ofDocument = [
    ['POST /orders', type, '{"email":"a@b.example"}'],
    ['PATCH /orders', 'application/merge-patch+json', '{"email":"a@b.example"}'],
  ];
  expect(requests.map(seen)).toEqual(expect.arrayContaining([...ofDocument, ...trials]));
  const accepted = requests.filter(({ target }) => target === '/orders').map(({ headers }) => headers.accept);
  expect(accepted).toEqual([type, type]);
  expect(requests.find(({ target }) => target.startsWith('/none'))?.headers.authorization).toBe(
    'Basic opaque',
  );
});

function seen({ method, target, headers, body: text }: (typeof requests)[number]): readonly string[] {
  const given = headers['content-type'] ?? '';
  const [, boundary] = /boundary=(.*)/.exec(given) ?? [];
  if (boundary === undefined) return [`${method} ${target}`, given, text];
  const parts = text.split(`--${boundary}`).slice(1, -1);
  const pairs = parts.map((part) => part.replace(/^.*name="([^"]*)"\r\n\r\n(.*)\r\n$/s, '$1=$2'));
  return [`${method} ${target}`, 'multipart/form-data', pairs.join(', ')];
}
