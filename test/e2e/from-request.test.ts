import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { startApi } from '../api-server.ts';
import { type Documented, documented } from './requests.ts';
import { compile, create, expectProven, lendModules, market, scratch, succeeded, tree } from './support.ts';

const root = scratch();

/** The API of a request: it judges method, path, query, headers and body by their bytes. */
async function apiOf({ method, url, headers = {}, body = '', answer }: Documented) {
  const differences: string[] = [];
  const { origin } = await startApi((request) => {
    const wrong = [
      ...(request.method === method ? [] : [`method ${request.method}`]),
      ...(request.target === url ? [] : [`url ${request.target}`]),
      ...Object.entries(headers).flatMap(([name, value]) =>
        request.headers[name] === value ? [] : [`${name} ${request.headers[name]}`],
      ),
      ...(/^(?:undefined|node)?$/.test(`${request.headers['user-agent']}`) ? ['no user-agent'] : []),
      ...(request.body === body ? [] : [`body ${request.body}`]),
    ];
    differences.push(wrong.join('; '));
    return wrong.length === 0 ? { body: answer } : { status: 400, body: { wrong } };
  });
  return { origin, differences };
}

const forms = (key: string) => [
  key,
  encodeURIComponent(key),
  // Base64 at each of the three offsets, without what the neighbours change.
  ...[0, 1, 2].map((offset) =>
    Buffer.from('-'.repeat(offset) + key)
      .toString('base64')
      .slice(offset === 0 ? 0 : 4, -4),
  ),
];

it('twenty requests of documentation become tools at the first try that pass the check, ask with the same bytes, and keep their keys in .env', async () => {
  const apis = await Promise.all(documented.map(apiOf));
  const streams: string[] = [];
  const lineOf = (i: number) =>
    (documented[i] as Documented).curl.replace(/https:\/\/host/, () => apis[i]?.origin ?? '');
  const first = await create(
    ['apis', '--yes', '--json', '--no-install', '--no-git', '--from-request', lineOf(0)],
    { cwd: root },
  );
  expect(first.stderr).toBe('');
  const { directory, tools } = JSON.parse(first.stdout);
  streams.push(first.stdout, first.stderr);
  const names: string[] = [...tools];
  for (const [i, { flags = [] }] of documented.entries()) {
    if (i === 0) continue;
    const [, tool] = flags;
    const args = [
      'add-tool',
      ...(tool ? [tool] : []),
      '--yes',
      '--json',
      '--no-check',
      '--from-request',
      '-',
    ];
    const added = await market(args, {
      cwd: directory,
      stdin: 'pipe',
      input: lineOf(i),
    });
    expect(added.stderr, documented[i]?.api).toBe('');
    streams.push(added.stdout, added.stderr);
    names.push(...JSON.parse(added.stdout).tools);
  }
  expect(names).toEqual(documented.map(({ tool }) => tool));
  expect(apis.map(({ differences }) => differences)).toEqual(documented.map(() => ['']));

  lendModules(directory);
  await succeeded(compile(directory));
  await expectProven(directory);

  const recorded = await market(['record', '--json'], { cwd: directory });
  streams.push(recorded.stdout, recorded.stderr);
  expect(JSON.parse(recorded.stdout).called).toHaveLength(documented.length);
  expect(apis.map(({ differences }) => differences)).toEqual(documented.map(() => ['', '']));

  const listed = await market(['list', '--json'], { cwd: directory });
  const inputsOf = ({ name }: { name: string }) => {
    const file = readFileSync(join(directory, `src/tools/${name.replaceAll('_', '-')}.ts`), 'utf8');
    return [...new Set([...file.matchAll(/\binput\.(\w+)/g)].map(([, input]) => input))];
  };
  expect(JSON.parse(listed.stdout).tools.map(inputsOf)).toEqual(documented.map(({ inputs }) => inputs));

  const env = join(directory, '.env');
  expect(statSync(env).mode & 0o777).toBe(0o600);
  const keys = documented.flatMap(({ key }) => (key ? [key] : []));
  const written = readFileSync(env, 'utf8').trim().split('\n');
  expect(written).toHaveLength(keys.length);
  for (const [i, [value, variable]] of keys.entries()) {
    expect(written[i]).toMatch(new RegExp(`^\\w+_${variable}=`));
    expect(written[i]).toContain(value);
  }
  const texts = [...tree(directory)].flatMap(([path, text]): readonly (readonly [string, string])[] => {
    if (path === '.env' || path.startsWith('node_modules')) return [];
    const packed = path.endsWith('.tgz')
      ? gunzipSync(readFileSync(join(directory, path))).toString('latin1')
      : text;
    return [[path, packed]];
  });
  const found = keys.flatMap(([value]) =>
    forms(value).flatMap((form) =>
      [...texts, ...streams.map((text, i) => [`stream ${i}`, text] as const)]
        .filter(([, text]) => text.includes(form))
        .map(([where]) => `${form} in ${where}`),
    ),
  );
  expect(found).toEqual([]);
  await expect(table()).toMatchFileSnapshot('../../docs/evidence/requests.md');
});

/** Commands of public documentation, which test/import/real-requests.test.ts compares with what curl sends. */
const { requests: publicCommands }: { readonly requests: readonly PublicCommand[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/real-requests.json'), 'utf8'),
);

interface PublicCommand {
  readonly api: string;
  /** What the rejection says. */
  readonly rejected?: string;
}

function table(): string {
  const rows = documented.map(({ api, method, tool, inputs, key }) => {
    const shown = inputs.map((input) => `\`${input}\``).join(', ');
    return `| ${api} | ${method} | \`${tool}\` | ${shown} | ${key ? `\`…_${key[1]}\`` : ''} |`;
  });
  const rejected = publicCommands.flatMap(({ api, rejected: reason }) =>
    reason === undefined ? [] : [`| ${api} | \`${reason}\` |`],
  );
  return `# Requests of documentation

## Twenty requests, from the command to the recorded tool

Pages of documentation print them; their keys are made up. Small servers on this machine compare method, path, query, headers and body byte by
byte. Each became a tool at the first try, without a question. The server of all twenty passes the rules about tools, \`market-mcp record\`
sends the same bytes, and the keys are in \`.env\` only. \`test/e2e/from-request.test.ts\` tests this, and \`npm run docs requests\` writes this page.

| request | method | tool | arguments | key |
| --- | --- | --- | --- | --- |
${rows.join('\n')}

## Commands that the real curl sends

\`test/import/real-requests.test.ts\` runs ${publicCommands.length} commands with curl and as tools. ${publicCommands.length - rejected.length} tools send what curl sends. The others are rejected before
anything is sent, because a tool cannot send the same:

| command | rejected part |
| --- | --- |
${rejected.join('\n')}
`;
}
