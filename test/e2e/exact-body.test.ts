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
  tree,
} from './support.ts';

const root = scratch();
const large = '1234567890123456789';

const order = { state: 'sent', amount: 5 };
const envelopes: { readonly [path: string]: object } = {
  '/rpc': { jsonrpc: '2.0', id: 1, result: order },
  '/graphql': { data: order },
};
const { origin, requests } = await startApi(({ target }) => ({ body: envelopes[target] ?? order }));

/** The bodies that the API received, by path, byte for byte. */
function receivedBodies(): ReadonlyMap<string, readonly string[]> {
  const bodies = new Map<string, string[]>();
  for (const { target, body } of requests) bodies.set(target, [...(bodies.get(target) ?? []), body]);
  return bodies;
}

const bodies = {
  '/orders': `{"recipient_id":${large},"lines":[{"id":${large}}],"ids":[${large},5],"term":{"user.id":-${large}0}}`,
  '/rpc': `{"jsonrpc":"2.0","id":${large},"method":"getOrder","params":[${large},"${large}"]}`,
  '/graphql': `{"query":"query Order($id: Long!) { state(id: $id) amount(id: $id) }","variables":{"id":${large}}}`,
  '/recorded': `{"recipient_id":${large},"wei":1000000000000000000}`,
};

function curlTo(path: keyof typeof bodies): string {
  return `curl ${origin}${path} -H 'content-type: application/json' -d '${bodies[path]}'`;
}

it('an integer beyond 2^53 of a pasted or recorded body reaches the API with its digits, from the trial, record and each call', async () => {
  const flags = ['--yes', '--json', '--no-install', '--no-git', '--effect', 'reads'];
  const created = await succeeded(
    create(['orders', ...flags, '--tool', 'get_orders', '--from-request', curlTo('/orders')], { cwd: root }),
  );
  const { directory } = JSON.parse(created.stdout);
  const har = {
    log: {
      entries: [
        {
          request: {
            method: 'POST',
            url: `${origin}/recorded`,
            headers: [{ name: 'content-type', value: 'application/json' }],
            postData: { mimeType: 'application/json', text: bodies['/recorded'] },
          },
          response: { content: { mimeType: 'application/json' } },
        },
      ],
    },
  };
  writeFileSync(join(root, 'traffic.har'), JSON.stringify(har));
  const others = [
    ['get_rpc_order', curlTo('/rpc')],
    ['get_graphql_order', curlTo('/graphql')],
    ['get_recorded', join(root, 'traffic.har')],
  ] as const;
  for (const [tool, request] of others) {
    const args = ['add-tool', tool, '--yes', '--json', '--no-check', '--effect', 'reads'];
    await succeeded(market([...args, '--from-request', request], { cwd: directory }));
  }
  const timesReceived = (times: number) =>
    new Map(Object.entries(bodies).map(([path, body]) => [path, Array.from({ length: times }, () => body)]));
  expect(receivedBodies()).toEqual(timesReceived(1));

  lendModules(directory);
  await succeeded(compile(directory));
  await expectProven(directory);
  expect(receivedBodies()).toEqual(timesReceived(1));

  await succeeded(market(['record', '--json'], { cwd: directory }));
  expect(receivedBodies()).toEqual(timesReceived(2));
  const recordings = [...tree(directory)].filter(([path]) => path.startsWith('test/recordings/'));
  expect(recordings).toHaveLength(4);
  for (const [path, text] of recordings) expect(text, path).toMatch(`"${large}`);

  const { value } = await evaluated(
    directory,
    `const other = [named('get_orders'), { recipient_id: '99999999999999999999', ids: [] }];
    const states = [];
    for (const [tool, args] of [...tools.map((tool) => [tool, tool.examples[0].arguments]), other])
      states.push((await callTool(tool, args)).structuredContent.state);
    return states;`,
  );
  expect(value).toEqual(['sent', 'sent', 'sent', 'sent', 'sent']);
  const expected = timesReceived(3);
  const changed = bodies['/orders'].replace(large, '99999999999999999999').replace(`[${large},5]`, '[]');
  expected.get('/orders')?.push(changed);
  expect(receivedBodies()).toEqual(expected);
});
