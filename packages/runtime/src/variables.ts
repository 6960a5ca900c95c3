/** An environment variable of the server. */
export interface Variable {
  /** The value used if the variable is unset or empty; null if it has no default, or if `text` describes it. */
  readonly default: string | null;
  readonly text: string;
  /** Whether `.env.example` names it: one of those that are set for most servers. */
  readonly common?: true;
}

/** Every environment variable that the server reads. */
export const variables = {
  PORT: { default: '3000', common: true, text: 'Port to listen on.' },
  HOST: {
    default: null,
    common: true,
    text: 'Address to listen on. Default: 0.0.0.0 in production, 127.0.0.1 elsewhere.',
  },
  NODE_ENV: {
    default: null,
    common: true,
    text: '"production" for a live server; PLATFORM_AUDIENCE is then required. AUTH=off works only with "development", "test" or nothing here.',
  },
  PLATFORM_AUDIENCE: {
    default: null,
    common: true,
    text: 'Public URL of the endpoint, exactly as registered: https, ending in /mcp. Tokens must name it. While it is "pending", calls are refused, unless the host names its domain in a variable. Default outside production: http://localhost:PORT/mcp.',
  },
  PLATFORM_ISSUER: {
    default: null,
    common: true,
    text: 'Issuer of the tokens (their "iss"). Required if the platform profile does not contain it.',
  },
  PLATFORM_JWKS_URL: {
    default: null,
    common: true,
    text: "URL of the platform's key set. Required, like PLATFORM_PUBLIC_KEY, if the platform profile does not contain it.",
  },
  PLATFORM_PUBLIC_KEY: {
    default: null,
    common: true,
    text: 'Public key or certificate of the platform: PEM text, or the path of a file. If set, no other key is used.',
  },
  AUTH: {
    default: null,
    common: true,
    text: '"off" switches the token check off, for local experiments. Anyone can then call the tools without paying.',
  },
  MAX_TOKEN_SECONDS: {
    default: null,
    text: "Maximum lifetime of a token, in seconds. Default: ten times the lifetime of the platform's tokens.",
  },
  TOKEN_ONCE: {
    default: 'off',
    text: '"on" accepts each token (its "jti") for one call only, on this replica, or with STATE_URL on all of them; while the store does not answer, each replica accepts it once. "strict", for tools that write, then answers 503 with Retry-After. After the store has restarted, failed over or lost its data, "strict" answers 401 to tokens with an "iat" before that moment, or within the clock tolerance after it. It needs "iat" in tokens, and run_id in INFO of the store. Two cases remain in which a token can run twice. A primary is cut off and still accepts writes: set min-replicas-to-write to 1. The clock of the platform is ahead of the store\'s by more than the tolerance. Leave it off if the platform repeats calls with the same token, as it does after a failure and in the submission test.',
  },
  SESSION_SECRET: {
    default: null,
    common: true,
    text: 'Secret that signs the sessions: 32 characters or more, the same on every replica. Default: random for each process.',
  },
  SESSION_SECRET_PREVIOUS: {
    default: null,
    text: 'The secret before a change of SESSION_SECRET: sessions that it signed stay valid. It signs none.',
  },
  SESSION_TTL_SECONDS: { default: '2592000', text: 'Lifetime of a session, in seconds.' },
  STATE_URL: {
    default: null,
    text: 'URL of the Redis server that replicas share: redis://user:password@host:6379/0, rediss: with TLS, or redis+sentinel://user:password@host:26379,host:26379/name/0 with Sentinels; not Redis Cluster. It has an effect if serve has the option `state`, as `market-mcp deploy add redis` writes it.',
  },
  TOKEN_STATE_URL: {
    default: null,
    text: 'URL of another Redis server, for used tokens alone (TOKEN_ONCE): what fills or empties the server of STATE_URL does not touch them. Default: that server.',
  },
  CACHE_SHARED_BYTES: {
    default: '67108864',
    text: 'Memory of the store at STATE_URL for the cached answers of this server, all replicas together, in bytes; those that expire first make room. "0" shares none.',
  },
  ALLOWED_ORIGINS: {
    default: null,
    common: true,
    text: 'Origins of web pages that may call the server, separated by commas; "*" for all. Outside production, pages on localhost are always allowed.',
  },
  ALLOWED_HOSTS: {
    default: null,
    text: 'Host names with which the server may be called outside production, separated by commas; "*" for all. The names of this machine and the host of PLATFORM_AUDIENCE are always allowed.',
  },
  CLIENT_ADDRESS_HEADER: {
    default: null,
    common: true,
    text: 'Header in which your proxy names its caller, such as x-forwarded-for (the last address counts). Set it only if every request comes through that proxy.',
  },
  MAX_BODY_BYTES: {
    default: '1048576',
    text: 'Size limit of a request with a valid token, in bytes.',
  },
  UNPAID_BODY_BYTES: {
    default: '65536',
    text: 'Size limit of a request without a valid token, in bytes. Larger requests get 413.',
  },
  UNPAID_BODY_MS: {
    default: '5000',
    text: 'Time limit for the body of a request without a valid token to arrive, in milliseconds. Slower requests get 408.',
  },
  MAX_MEMORY_BYTES: {
    default: null,
    text: 'Memory for everything that callers make the server hold, in bytes. One eighth is for bodies without a valid token, a quarter for other bodies that are not yet parsed, an eighth for answers that their callers have not read yet, and half for the arguments of running calls, large answers of sources and large results, by an estimate before they are parsed. A call that does not fit waits for half of CALL_TIMEOUT_MS, then fails with OVERLOADED, or with 503 before it runs. When a part for bodies is full, a request of the address with the most gets 503, unless it is smaller than the others; for unread answers, the connection of the oldest at the address with the most is closed. Default: three quarters of the heap limit (`--max-old-space-size`).',
  },
  ANSWER_STALL_MS: {
    default: '20000',
    text: 'Time after which a connection is closed whose caller reads nothing, in milliseconds.',
  },
  MAX_STREAMS: {
    default: '1000',
    text: 'Maximum number of open event streams, about 10 kB of memory each. Beyond it, the oldest stream of the address with the most is closed.',
  },
  MAX_CONNECTIONS: {
    default: '2000',
    text: 'Maximum number of open connections, about 15 kB of memory and one file descriptor each. Beyond it, an idle connection of the network with the most is closed: silent ones first, those with a valid token last. Never more than three quarters of the file descriptors of the process.',
  },
  MAX_PIPELINED: {
    default: '6',
    text: 'Maximum number of requests that one connection may send without waiting for an answer. Clients and proxies send one. Beyond the limit, the connection is closed.',
  },
  MAX_CALLS: {
    default: '1000',
    text: 'Maximum number of tool calls that run at once, each with the memory that its tool needs. Further calls get 503.',
  },
  MAX_CALLS_PER_TOKEN: {
    default: '250',
    text: 'Maximum number of tool calls that run at once with one token. Further calls get 503.',
  },
  MAX_LOOP_DELAY_MS: {
    default: '2000',
    text: 'Delay of the event loop above which requests get 503, in milliseconds.',
  },
  CALL_TIMEOUT_MS: {
    default: null,
    common: true,
    text: 'Time limit of a tool call, in milliseconds. Default: two seconds less than the platform waits.',
  },
  REQUEST_TIMEOUT_MS: {
    default: '30000',
    text: 'Time limit for a request to arrive, in milliseconds.',
  },
  SHUTDOWN_GRACE_MS: {
    default: '8000',
    text: 'Time from SIGTERM to the end of the process, in milliseconds. In its last second, calls that still run fail with SERVER_STOPPING. Set it to DRAIN_MS + CALL_TIMEOUT_MS + 2000, and let the host wait 5 seconds longer. The default is for Docker, which kills the process after 10000.',
  },
  DRAIN_MS: {
    default: '0',
    text: 'How long the server goes on after SIGTERM while /ready answers 503, in milliseconds: a proxy then sends it no more calls. Part of SHUTDOWN_GRACE_MS. Behind a proxy that asks /ready every second: 2500.',
  },
  METRICS_PORT: {
    default: null,
    text: 'Port of GET /metrics, in the text form of Prometheus; another one than PORT. Without it there are no metrics, and they cost nothing.',
  },
  METRICS_HOST: {
    default: '127.0.0.1',
    text: 'Address of /metrics. Whoever reaches it reads the metrics: choose one that only your Prometheus reaches.',
  },
} as const satisfies { readonly [name: string]: Variable };

export type VariableName = keyof typeof variables;
