import { join } from 'node:path';
import { repository } from '../e2e/support.ts';

/** A third-party server from its package. */
export interface ForeignServer {
  readonly name: string;
  /** The package of the server, and its node_modules directory. */
  readonly package: string;
  readonly modules: string;
  /** A package whose stdio server it serves over HTTP. */
  readonly wraps?: string;
  /** The arguments for Node, in which `$PORT` is the port. `place` is an empty directory for its files. */
  start(place: string): Promise<readonly string[]> | readonly string[];
  /** Variables that it needs. None is a real key. */
  readonly env?: Readonly<Record<string, string>>;
  /** Known properties on every machine: the form of its answers, whether it has sessions, the rules that it fails. */
  readonly answers: 'JSON' | 'SSE';
  readonly hasSessions: boolean;
  readonly fails: readonly string[];
  /** The repository, path and commit of a server that is in no package. */
  readonly source?: string;
  /** Set if a request of the check ends its process. */
  readonly dies?: true;
}

/** Servers among the examples of the MCP SDK, which the tests of this repository install. */
export const sdkServers: readonly ForeignServer[] = [
  {
    ...sdkExample('jsonResponseStreamableHttp'),
    answers: 'JSON',
    hasSessions: true,
    fails: ['discovery.prompts-list', 'gate.no-token', 'health.status', 'output.object-root'],
  },
  {
    ...sdkExample('simpleStatelessStreamableHttp'),
    answers: 'SSE',
    hasSessions: false,
    fails: ['gate.no-token', 'health.status', 'http.accept-any', 'session.open'],
  },
  {
    ...sdkExample('honoWebStandardStreamableHttp'),
    answers: 'SSE',
    hasSessions: false,
    fails: ['gate.no-token', 'health.fields', 'http.accept-any', 'session.open'],
  },
];

function sdkExample(file: string): Pick<ForeignServer, 'name' | 'package' | 'modules' | 'start'> {
  const modules = join(repository, 'node_modules');
  return {
    name: `${file} of the SDK's examples`,
    package: '@modelcontextprotocol/sdk',
    modules,
    start: () => [join(modules, '@modelcontextprotocol/sdk/dist/esm/examples/server', `${file}.js`)],
  };
}
