import { subscribe } from 'node:diagnostics_channel';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { bind } from './listen.ts';
import {
  createCounter,
  createGauge,
  createHistogram,
  createReadingGauge,
  limited,
  metricsText,
} from './prometheus.ts';
import {
  type AnswerDrift,
  drifts,
  type Operation,
  operationEnd,
  type Refusal,
  refusals,
  type SessionChange,
  sessionChanges,
  type Upstream,
  upstreams,
} from './server/log.ts';
import type { ServerInfo } from './server/mcp-methods.ts';

/** Those that OpenTelemetry recommends for MCP, in seconds. */
const bounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const maxConnections = 20;
const requestTimeout = 10_000;
/** How often the delay of the event loop is measured, in milliseconds. A measured interval includes it. */
const resolution = 20;
/** The figures of the event loop cover the last one to two of these periods, in milliseconds. */
const period = 60_000;

/**
 * Answers `GET /metrics` from now on, with what the channels of the server publish from now on.
 *
 * @returns the address of the metrics
 * @throws Error that names the variable to change if the port cannot be used
 */
export async function serveMetrics(host: string, port: number, info: ServerInfo): Promise<string> {
  const read = collectMetrics(info);
  const answer = ({ method, url }: IncomingMessage, response: ServerResponse) => {
    const isKnown = url?.split('?')[0] === '/metrics';
    if (!isKnown) response.writeHead(404).end('The metrics are at /metrics.\n');
    else if (method !== 'GET' && method !== 'HEAD') response.writeHead(405, { allow: 'GET, HEAD' }).end();
    else response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(read());
  };
  const server = createServer({ requestTimeout, headersTimeout: requestTimeout }, answer);
  server.maxConnections = maxConnections;
  const bound = await bind(server, host, port, 'METRICS_');
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}/metrics`;
}

/** Counts what the channels publish. Returns a function that gives the text of all metrics. */
function collectMetrics({ name, version }: ServerInfo): () => string {
  const operations = createHistogram(
    'mcp_server_operation_duration_seconds',
    'Duration of requests to a method of MCP.',
    ['mcp_method_name', 'gen_ai_tool_name', 'outcome', 'error_type', 'code'],
    bounds,
  );
  const refusalCounter = createCounter('mcp_server_refusals_total', 'What the server did not accept.', [
    'reason',
  ]);
  const sessions = createCounter('mcp_server_sessions_total', 'Sessions opened, or closed by clients.', [
    'change',
  ]);
  const requests = createHistogram(
    'http_client_request_duration_seconds',
    'Duration of attempts to get an answer from an API.',
    ['server_address', 'http_response_status_class'],
    bounds,
  );
  const drifted = createCounter(
    'mcp_answer_drift_total',
    'Members of answers that did not match their schemas, and were replaced.',
    ['tool', 'path'],
  );
  const limitedCode = limited();
  const reason = limited();
  const address = limited();
  const on = <Message>({ name }: { readonly name: string | symbol }, take: (message: Message) => void) =>
    subscribe(name, (message) => take(message as Message));
  on<Operation>(operationEnd, ({ method, tool = '', outcome = '', errorType = '', code = '', ms = 0 }) =>
    operations.add([method, tool, outcome, errorType, limitedCode(code)], ms / 1000),
  );
  on<Refusal>(refusals, (refusal) => refusalCounter.add([reason(refusal.reason)]));
  on<AnswerDrift>(drifts, ({ tool, path }) => drifted.add([tool, path]));
  on<SessionChange>(sessionChanges, ({ change }) => sessions.add([change]));
  on<Upstream>(upstreams, ({ host, status, ms }) => {
    const statusClass = status === undefined ? 'none' : `${Math.floor(status / 100)}xx`;
    requests.add([address(host), statusClass], ms / 1000);
  });

  const delay = watchLoop();
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1000);
  const state = [
    createReadingGauge('mcp_server_ready', 'Whether calls can be paid, and the reason if not.', 'ready'),
    createReadingGauge('mcp_server_keys', 'Keys in use that verify tokens.', 'keys'),
    createReadingGauge(
      'mcp_server_state_shared',
      'Whether the store of all replicas answers; 0: this replica works alone.',
      'shared',
    ),
    createReadingGauge('mcp_server_calls_running', 'Running calls.', 'calls'),
    createReadingGauge('mcp_server_calls_limit', 'Calls that may run at once, MAX_CALLS.', 'callsLimit'),
    createReadingGauge('mcp_server_connections', 'Open connections.', 'connections'),
    createReadingGauge('mcp_server_streams', 'Open event streams.', 'streams'),
    createReadingGauge(
      'mcp_source_budget_remaining',
      'Requests that this replica may send to an API now.',
      'budgetRemaining',
    ),
  ];
  const gauges = [
    createGauge('target_info', 'The server.', () => 1, { service_name: name, service_version: version }),
    createGauge(
      'process_start_time_seconds',
      'Start of the process, as Unix time.',
      () => performance.timeOrigin / 1000,
    ),
    createGauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss()),
    createGauge('nodejs_heap_size_used_bytes', 'Used heap.', () => process.memoryUsage().heapUsed),
    createGauge(
      'nodejs_eventloop_delay_p50_seconds',
      'Delay of the event loop in the last one to two minutes, median.',
      () => seconds(delay().percentile(50)),
    ),
    createGauge(
      'nodejs_eventloop_delay_p99_seconds',
      'Delay of the event loop in the last one to two minutes, 99th percentile.',
      () => seconds(delay().percentile(99)),
    ),
    createGauge(
      'nodejs_eventloop_delay_max_seconds',
      'Delay of the event loop in the last one to two minutes, maximum.',
      () => seconds(delay().max),
    ),
  ];
  const cpu = createGauge('process_cpu_seconds_total', 'CPU time of the process.', cpuSeconds, {}, 'counter');
  const allMetrics = [operations, refusalCounter, sessions, requests, drifted, ...state, ...gauges, cpu];
  return () => metricsText(allMetrics);
}

/** Measures the event loop. Returns the figures of the last one to two periods, the same for each reader. */
function watchLoop(): () => IntervalHistogram {
  let [older, newer] = [monitorEventLoopDelay({ resolution }), monitorEventLoopDelay({ resolution })];
  for (const histogram of [older, newer]) histogram.enable();
  setInterval(() => {
    older.reset();
    [older, newer] = [newer, older];
  }, period).unref();
  return () => older;
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
