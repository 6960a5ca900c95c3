import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { propertiesOf, requiredOf } from '../../packages/contract/src/json/keywords.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import { readOpenApi } from '../../src/import/openapi/openapi-document.ts';
import { operationsOf } from '../../src/import/openapi/operations.ts';
import { prepareTools } from '../../src/import/prepare.ts';
import { sampleValue, samplingOf } from '../../src/samples/sample-value.ts';
import { serveHere } from '../api-server.ts';
import { installOnce } from '../e2e/install-once.ts';
import { run, scaffold, scratch } from '../e2e/support.ts';
import { fetchDocuments } from './documents.ts';
import { endOfCall, upstreamOf } from './upstream.ts';

/** Operations of each document: half of them only read. */
const perDocument = 10;

/** Third-party documents, and the Authorization headers of their operations with `security`, or of all if there are no schemes. */
const documents: readonly (readonly [title: string, authorization: RegExp])[] = [
  ['Stripe', /^Basic /],
  ['GitHub, 845 operations', /^$/],
  ['Twilio', /^Basic /],
  ['Box', /^Bearer /],
  ['Kubernetes', /^secret-/],
  ['Zuora', /^(secret-|$)/],
  ['SendGrid', /^secret-/],
  ['Hetzner Cloud', /^$/],
];

const root = scratch();
let modules: string;
let paths: ReadonlyMap<string, string>;
beforeAll(async () => {
  paths = new Map((await fetchDocuments()).map(({ title, path }) => [title, path]));
  const manifest = readFileSync(join(import.meta.dirname, 'package.json'), 'utf8');
  modules = await installOnce('openapi-upstream', manifest);
});

interface Asked {
  readonly operation: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}

it.each(documents)(
  `%s: ${perDocument} operations get requests that match the document`,
  async (title, authorization) => {
    const path = paths.get(title) ?? '';
    const text = readFileSync(path, 'utf8');
    const asked = await callsOf(text, path);
    const names = [...new Set(asked.map(({ operation }) => operation))];
    expect(names).toHaveLength(perDocument);

    const chosen = names.flatMap((name) => ['--operation', name]);
    const name = title.toLowerCase().replaceAll(/\W+/g, '-');
    const { directory } = await scaffold([name, '--from-openapi', path, ...chosen], { cwd: root });
    const definition = JSON.parse(text);
    const apiRoot = new URL(definition.servers[0].url, 'http://localhost').pathname.replace(/\/$/, '');
    const { server, calls } = await upstreamOf(definition, apiRoot, modules);
    const origin = await serveHere(server);
    const env = Object.fromEntries(
      [...readFileSync(join(directory, '.env.example'), 'utf8').matchAll(/^#? ?([A-Z][A-Z0-9_]*)=/gm)].map(
        ([, name = '']) => [name, name.endsWith('_URL') ? origin + apiRoot : `secret-${name}`],
      ),
    );
    writeFileSync(join(directory, 'asked.json'), JSON.stringify(asked));
    const script = `
      import { readFileSync } from 'node:fs';
      import { callTool } from 'market-mcp-runtime/testing';
      const { tools } = await import('./dist/src/tools/index.js');
      for (const { tool, arguments: args } of JSON.parse(readFileSync('asked.json', 'utf8'))) {
        await callTool(tools.find(({ name }) => name === tool), args);
        await fetch('${origin}${endOfCall}');
      }`;
    const ran = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: directory, env });
    expect(ran.status, ran.stderr.slice(-3_000)).toBe(0);
    const made = calls.slice(0, -1).map(([first]) => first);
    expect(made.map((one) => [one?.operation, ...(one?.errors ?? [])])).toEqual(
      // Box writes several operations of one address with a fragment.
      asked.map(({ operation }) => [operation.replace(/#.*/, '')]),
    );
    const schemes = definition.components?.securitySchemes;
    for (const [i, one] of made.entries()) {
      const [method = '', at = ''] = asked[i]?.operation.split(' ') ?? [];
      const security = definition.paths[at][method.toLowerCase()].security ?? definition.security ?? [];
      const expected = schemes && security.length === 0 ? /^$/ : authorization;
      expect(one?.authorization ?? '', asked[i]?.operation).toMatch(expected);
    }
  },
);

/** Calls of every k-th operation that becomes a tool: with the required arguments only, and with all. */
async function callsOf(text: string, path: string): Promise<readonly Asked[]> {
  const document = await readOpenApi(text, path);
  if (!document.ok) throw new Error(JSON.stringify(document.errors));
  const listed = operationsOf(document.value);
  const nameOf = ({ method, path }: (typeof listed)[number]) => `${method.toUpperCase()} ${path}`;
  const imported = (operations: readonly string[]) => {
    const tools = toolsOfDocument(document.value, { operations, tool: null }, '', null);
    return tools.ok ? prepareTools(tools.value, context) : tools;
  };
  const reads = listed.filter(({ method }) => method === 'get').map(nameOf);
  const writes = listed.filter(({ method }) => method !== 'get').map(nameOf);
  const names = [reads, writes].flatMap((half) => {
    const step = Math.floor(half.length / (perDocument / 2));
    return Array.from({ length: perDocument / 2 }, (_, i) => half.slice(i * step, (i + 1) * step)).flatMap(
      (part) => part.find((name) => imported([name]).ok) ?? [],
    );
  });
  const prepared = imported(names);
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.errors));
  return prepared.value.tools.flatMap((tool, i) => {
    const { inputSchema, name } = tool.definition;
    const required = Object.fromEntries(
      propertiesOf(inputSchema).filter(([member]) => requiredOf(inputSchema).includes(member)),
    );
    return [{ ...inputSchema, properties: required }, inputSchema].map((schema) => ({
      operation: names[i] ?? '',
      tool: name,
      arguments: sampleValue(schema, samplingOf(schema)) as JsonObject,
    }));
  });
}
