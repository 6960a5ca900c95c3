import { expect, test } from 'vitest';
import { inspectionIn } from '../../src/dev/develop.ts';

test.each([
  ['--inspect', { option: 'inspect', host: '127.0.0.1', port: 9229 }, ''],
  [
    '--no-warnings --inspect=4000 --trace-exit',
    { option: 'inspect', host: '127.0.0.1', port: 4000 },
    '--no-warnings --trace-exit',
  ],
  ['--inspect-brk=0.0.0.0:9300', { option: 'inspect-brk', host: '0.0.0.0', port: 9300 }, ''],
  ['--inspect=localhost', { option: 'inspect', host: 'localhost', port: 9229 }, ''],
  ['--inspect=[::1]:9300', { option: 'inspect', host: '[::1]', port: 9300 }, ''],
  ['--inspect-publish-uid=http', undefined, '--inspect-publish-uid=http'],
  ['', undefined, ''],
])('passes on the debugger in NODE_OPTIONS=%s and keeps the other options', (options, inspection, rest) => {
  const found = inspectionIn(options);
  expect(found.inspection).toEqual(inspection);
  expect(found.rest.replaceAll(/\s+/g, ' ')).toBe(rest);
});
