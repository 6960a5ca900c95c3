import { expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { toolNameOf } from '../../src/import/openapi/openapi-tool.ts';
import { curlRequest } from '../../src/import/request/curl-options.ts';
import { parseRequest } from '../../src/import/request/parse-request.ts';

it.each([
  ['deleteUser', 'delete', '/users/{id}', 'deleteUser'],
  ['ユーザー削除', 'delete', '/users/{id}', 'delete_users_id'],
  ['🗑', 'delete', '/', 'delete'],
  ['2fa', 'delete', '/2fa', 'delete_2fa'],
  ['índice', 'get', '/a', 'indice'],
  [null, 'post', '/orders', 'post_orders'],
] as const)('the tool of the operation %j (%s %s) is %s', (id, method, path, name) => {
  expect(toolNameOf({ id, method, path })).toBe(name);
});

it('a method of JSON-RPC without letters a to z gives a tool the name of its path', () => {
  const line = `curl https://x.test/rpc -d '{"jsonrpc":"2.0","id":1,"method":"削除","params":{}}'`;
  const { name } = unwrap(parseRequest(curlRequest(line), { input: [], constants: [] }));
  expect(name).toBe('post_rpc');
});
