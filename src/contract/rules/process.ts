import { createServer, type Server } from 'node:net';
import type { Problem } from '../model.ts';
import type { Probe } from '../probe/probe.ts';
import { describe, rpcRequest } from '../probe/rpc.ts';
import { type LiveRule, NotRun, unless } from '../rule.ts';
import { isObject, shorten } from '../schema.ts';
import type { Environment, Exit, Instance } from '../target.ts';

const publicUrl = 'https://tools.example.com/mcp';
const defaultPort = 3000;
/** Longer than a server may take to finish its calls. */
const patienceMs = 20_000;

const keyless = refusesToStart(
  'process.no-key',
  'without a key to verify tokens with',
  'PLATFORM_PUBLIC_KEY',
  {
    PLATFORM_PUBLIC_KEY: undefined,
  },
);

/** How the server starts, refuses to start, and stops. */
export const processRules: readonly LiveRule[] = [
  {
    id: 'process.port',
    level: 'must',
    title: 'the server listens on PORT',
    source: 'C§4.2',
    mend: 'Read the port from the environment variable PORT.',
    check: (probe) =>
      using(probe, {}, async (instance) =>
        unless(instance.healthy, {
          path: 'PORT',
          expected: `GET /health answered at ${new URL(instance.url).origin}`,
          actual: lastWords(instance),
        }),
      ),
  },
  {
    id: 'process.default-port',
    level: 'must',
    title: `the server listens on port ${defaultPort} where PORT is not set`,
    source: 'C§4.2, C§8',
    mend: `Let the port default to ${defaultPort}.`,
    check: async (probe) => {
      const claim = await listen(defaultPort).catch(() => undefined);
      if (!claim) throw new NotRun(`port ${defaultPort} is in use on this machine`);
      await close(claim);
      return using(probe, { PORT: undefined }, async (instance) => {
        if (/EADDRINUSE|in use/i.test(instance.output()))
          throw new NotRun(`port ${defaultPort} has been taken meanwhile`);
        return unless(instance.healthy, {
          path: 'PORT unset',
          expected: `GET /health answered on port ${defaultPort}`,
          actual: lastWords(instance),
        });
      });
    },
  },
  {
    id: 'process.busy-port',
    level: 'should',
    title: 'a port in use ends the start with an error',
    source: 'C§4.2',
    mend: 'Report the error and exit with a status other than 0; never listen on another port.',
    check: async (probe) => {
      const busy = await listen(0);
      try {
        const address = busy.address();
        const port = typeof address === 'object' && address ? address.port : 0;
        return await using(probe, { PORT: String(port) }, (instance) =>
          endProblems(instance, `PORT=${port}, in use`, String(port)),
        );
      } finally {
        await close(busy);
      }
    },
  },
  {
    ...keyless,
    check: async (probe) => {
      if (probe.profile.token.jwksUrl !== null)
        throw new NotRun('the platform profile knows where the keys are');
      return keyless.check(probe);
    },
  },
  refusesToStart('process.production-auth', 'in production with the gate switched off', 'AUTH', {
    NODE_ENV: 'production',
    PLATFORM_AUDIENCE: publicUrl,
    AUTH: 'off',
  }),
  refusesToStart('process.production-audience', 'in production without an audience', 'PLATFORM_AUDIENCE', {
    NODE_ENV: 'production',
    PLATFORM_AUDIENCE: undefined,
  }),
  refusesToStart(
    'process.production-https',
    'in production with an audience that is no https URL',
    'PLATFORM_AUDIENCE',
    {
      NODE_ENV: 'production',
      PLATFORM_AUDIENCE: 'http://tools.example.com/mcp',
    },
  ),
  {
    id: 'process.production',
    level: 'must',
    title: 'the server starts in production behind an https URL and keeps its gate',
    source: 'C§1.4, C§5.1',
    mend: 'Take the audience from PLATFORM_AUDIENCE, whatever address the server itself listens on.',
    check: (probe) =>
      using(probe, { NODE_ENV: 'production', PLATFORM_AUDIENCE: publicUrl }, async (instance) => {
        if (!instance.healthy) {
          return [
            { path: 'NODE_ENV=production', expected: 'a server that starts', actual: lastWords(instance) },
          ];
        }
        return audienceProblems(probe, instance);
      }),
  },
  {
    id: 'process.terminate',
    level: 'should',
    title: 'SIGTERM ends the server in order',
    source: 'common to all container platforms',
    mend: 'Stop listening, finish what runs, then exit with status 0.',
    check: (probe) =>
      using(probe, {}, async (instance) => {
        if (!instance.healthy) throw new NotRun('no second instance could be started (process.port)');
        instance.signal('SIGTERM');
        const { code, signal } = await exitOf(instance);
        return unless(code === 0, {
          path: 'SIGTERM',
          expected: 'exit status 0',
          actual: ending(code, signal),
        });
      }),
  },
  {
    id: 'process.terminate-during-call',
    level: 'should',
    title: 'a call that runs when SIGTERM comes is still answered',
    source: 'common to all container platforms',
    mend: 'Stop listening, finish what runs, then exit with status 0.',
    check: (probe) => using(probe, {}, (instance) => interruptedCallProblems(probe, instance)),
  },
];

function refusesToStart(
  id: string,
  circumstances: string,
  variable: string,
  environment: Environment,
): LiveRule {
  return {
    id,
    level: 'must',
    title: `the server refuses to start ${circumstances}`,
    source: 'C§5.4, C§5.5',
    mend: `Check ${variable} at the start and exit with a message: otherwise anyone can call without paying.`,
    check: (probe) =>
      using(probe, environment, (instance) => endProblems(instance, shorten(environment), variable)),
  };
}

async function using(
  { target: { launch } }: Probe,
  environment: Environment,
  judge: (instance: Instance) => Promise<readonly Problem[]>,
): Promise<readonly Problem[]> {
  if (!launch) throw new NotRun('no way to start another instance of this target');
  const instance = await launch(environment);
  try {
    return await judge(instance);
  } finally {
    await instance.stop();
  }
}

/** A start that must end by itself, with a status other than 0 and an explanation. */
async function endProblems(instance: Instance, path: string, mentions: string): Promise<readonly Problem[]> {
  if (instance.healthy) return [{ path, expected: 'no start', actual: 'a running server' }];
  const { code, signal } = await instance.exit;
  return [
    ...unless(code !== null && code !== 0, {
      path,
      expected: 'an exit status other than 0',
      actual: ending(code, signal),
    }),
    ...unless(instance.output().includes(mentions), {
      path,
      expected: `a message that mentions ${mentions}`,
      actual: lastWords(instance),
    }),
  ];
}

/** A server that does not end by itself is ended, which shows in how it ends. */
async function exitOf(instance: Instance): Promise<Exit> {
  const overdue = setTimeout(() => instance.stop(), patienceMs);
  return instance.exit.finally(() => clearTimeout(overdue));
}

/** A token for the address at which the instance listens must be refused, one for its public URL let through. */
async function audienceProblems(probe: Probe, { url }: Instance): Promise<readonly Problem[]> {
  const { name, arguments: args } = (await probe.cases())[0];
  const at = new URL(url);
  const opened = await probe.initialize(undefined, { url: at });
  const session = String(opened.http.headers['mcp-session-id']);
  const call = rpcRequest(1, 'tools/call', { name, arguments: args });
  const [rightly, wrongly] = await Promise.all(
    [publicUrl, url].map(async (aud) =>
      probe.post(call, { url: at, session, token: await probe.token({ claims: { aud } }) }),
    ),
  );
  return [
    ...unless(rightly?.status === 200, {
      path: `token for ${publicUrl}`,
      expected: 'HTTP 200',
      actual: rightly ? describe(rightly) : 'nothing',
    }),
    ...unless(wrongly !== undefined && wrongly.status >= 400 && wrongly.status < 500, {
      path: `token for ${url}`,
      expected: 'a refusal',
      actual: wrongly ? describe(wrongly) : 'nothing',
    }),
  ];
}

/** The call is under way from the moment its headers are in; its body follows the signal. */
async function interruptedCallProblems(probe: Probe, instance: Instance): Promise<readonly Problem[]> {
  if (!instance.healthy) throw new NotRun('no second instance could be started (process.port)');
  const url = new URL(instance.url);
  const { name, arguments: args } = (await probe.cases())[0];
  const opened = await probe.initialize(undefined, { url });
  const session = String(opened.http.headers['mcp-session-id']);
  const token = await probe.token();
  const answer = await probe.post(rpcRequest(1, 'tools/call', { name, arguments: args }), {
    url,
    session,
    token,
    onHeadersSent: () => instance.signal('SIGTERM'),
  });
  const { code, signal } = await exitOf(instance);
  const [value] = answer.values;
  return [
    ...unless(answer.status === 200 && isObject(value) && value.result !== undefined, {
      path: 'tools/call',
      expected: 'a result',
      actual: describe(answer),
    }),
    ...unless(code === 0, { path: 'SIGTERM', expected: 'exit status 0', actual: ending(code, signal) }),
  ];
}

/** Occupies a port; whoever connects is turned away. */
function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function lastWords(instance: Instance): string {
  return shorten(instance.output().trim().split('\n').slice(-3).join(' | ') || 'nothing', 300);
}

function ending(code: number | null, signal: string | null): string {
  return code === null ? `ended by ${signal}` : `exit status ${code}`;
}
