import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { installedModules } from '../../test/e2e/install-once.ts';
import { repository } from '../../test/e2e/support.ts';
import type { ForeignServer } from '../../test/foreign/servers.ts';

/** The name of the installation of the package.json in this directory. */
export const installation = 'foreign';

export const modules = installedModules(installation);

/** Servers whose packages `package.json` pins. */
export const installedServers: readonly ForeignServer[] = [
  {
    name: 'server-everything',
    package: '@modelcontextprotocol/server-everything',
    modules,
    start: () => [module('@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp'],
    answers: 'SSE',
    hasSessions: true,
    fails: ['gate.no-token', 'health.status', 'session.unknown-post'],
  },
  {
    name: 'server-memory behind mcp-proxy',
    package: 'mcp-proxy',
    wraps: '@modelcontextprotocol/server-memory',
    modules,
    start: () => [
      module('mcp-proxy/dist/bin/mcp-proxy.mjs'),
      '--server',
      'stream',
      '--',
      process.execPath,
      module('@modelcontextprotocol/server-memory/dist/index.js'),
    ],
    answers: 'SSE',
    hasSessions: true,
    fails: ['gate.no-token', 'session.prototype'],
  },
  {
    name: 'server-filesystem behind supergateway',
    package: 'supergateway',
    wraps: '@modelcontextprotocol/server-filesystem',
    modules,
    start: (place) => [
      module('supergateway/dist/index.js'),
      '--stdio',
      `${process.execPath} ${module('@modelcontextprotocol/server-filesystem/dist/index.js')} ${place}`,
      '--outputTransport',
      'streamableHttp',
    ],
    answers: 'SSE',
    hasSessions: false,
    fails: ['gate.no-token', 'session.open'],
  },
  {
    name: 'the example of fastmcp',
    package: 'fastmcp',
    modules,
    start: () => [module('fastmcp/dist/examples/custom-routes.js')],
    answers: 'JSON',
    hasSessions: false,
    fails: ['discovery.initialize', 'health.fields'],
  },
  {
    name: 'the project that mcp-framework creates',
    package: 'mcp-framework',
    modules,
    start: createdByFramework,
    answers: 'SSE',
    hasSessions: true,
    fails: ['gate.no-token', 'health.fields', 'session.unknown-post'],
  },
  {
    name: "a marketplace's quickstart, with the SDK of its time",
    package: 'quickstart-sdk',
    modules,
    start: quickstart,
    env: {
      PLATFORM_PUBLIC_KEY: context.token.fallbackKey?.pem ?? '',
      PLATFORM_ISSUER: context.token.issuer ?? '',
      PLATFORM_AUDIENCE: 'https://tools.example.com/mcp',
    },
    answers: 'SSE',
    hasSessions: true,
    fails: ['session.two-at-once', 'gate.batch'],
  },
  {
    name: 'context7-mcp',
    package: '@upstash/context7-mcp',
    modules,
    start: () => [module('@upstash/context7-mcp/dist/index.js'), '--transport', 'http'],
    env: { OTEL_SDK_DISABLED: 'true' }, // its metrics have a port of their own
    answers: 'SSE',
    hasSessions: false,
    fails: ['gate.no-token'],
  },
  {
    name: 'brave-search-mcp-server',
    package: '@brave/brave-search-mcp-server',
    modules,
    start: () => [module('@brave/brave-search-mcp-server/dist/index.js'), '--transport', 'http'],
    env: { BRAVE_API_KEY: 'none' },
    answers: 'SSE',
    hasSessions: true,
    fails: ['gate.no-token'],
  },
  {
    name: 'notion-mcp-server',
    package: '@notionhq/notion-mcp-server',
    modules,
    start: () => [
      module('@notionhq/notion-mcp-server/bin/cli.mjs'),
      '--transport',
      'http',
      '--unsafe-disable-auth',
      '--port',
      '$PORT', // it compares the host and port of each request
    ],
    env: { NOTION_TOKEN: 'none' },
    answers: 'SSE',
    hasSessions: true,
    fails: ['endpoint.stays-up', 'gate.no-token'],
    dies: true, // of a GET whose session is "constructor"
  },
  {
    name: 'airtable-mcp-server',
    package: 'airtable-mcp-server',
    modules,
    start: () => [module('airtable-mcp-server/dist/main.js')],
    env: { MCP_TRANSPORT: 'http', AIRTABLE_API_KEY: 'none' },
    answers: 'JSON',
    hasSessions: false,
    fails: ['gate.no-token'],
  },
];

/** The same file with an older SDK, which lets several transports share one server object. */
function quickstart(place: string): readonly string[] {
  const text = readFileSync(join(repository, 'test/foreign/quickstart.js'), 'utf8');
  writeFileSync(
    join(place, 'quickstart.mjs'),
    text.replaceAll('@modelcontextprotocol/sdk/', 'quickstart-sdk/'),
  );
  symlinkSync(modules, join(place, 'node_modules'), 'dir');
  return [join(place, 'quickstart.mjs')];
}

/** Scaffolds with the framework's own program and builds with the project's own script. */
async function createdByFramework(place: string): Promise<readonly string[]> {
  const create = [module('mcp-framework/dist/cli/index.js'), 'create', 'created', '--http', '--no-install'];
  await execa(process.execPath, create, { cwd: place, stdin: 'ignore' });
  const project = join(place, 'created');
  symlinkSync(modules, join(project, 'node_modules'), 'dir');
  await execa('npm', ['run', 'build'], { cwd: project, stdin: 'ignore' });
  return [join(project, 'dist/index.js')];
}

function module(path: string): string {
  return join(modules, path);
}
