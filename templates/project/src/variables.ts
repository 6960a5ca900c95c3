/** An environment variable of the server. */
export interface Variable {
  /** The value in effect where the variable is unset or empty; null where there is none, or where the text says it. */
  readonly default: string | null;
  readonly text: string;
}

/** Every environment variable that the server reads. */
export const variables = {
  PORT: { default: '3000', text: 'Port to listen on.' },
  HOST: {
    default: null,
    text: 'Address to listen on. Unless set, 0.0.0.0 in production and 127.0.0.1 elsewhere.',
  },
  NODE_ENV: {
    default: null,
    text: '"production" where the server is live: PLATFORM_AUDIENCE must be set. AUTH=off takes "development", "test" or nothing here.',
  },
  PLATFORM_AUDIENCE: {
    default: null,
    text: 'Public endpoint URL exactly as registered, https and ending in /mcp; tokens must name it. Locally http://localhost:PORT/mcp.',
  },
  PLATFORM_ISSUER: {
    default: null,
    text: 'Who issues the tokens (their "iss"). The platform profile may know it.',
  },
  PLATFORM_JWKS_URL: {
    default: null,
    text: "URL of the platform's key set. The platform profile may know it.",
  },
  PLATFORM_PUBLIC_KEY: {
    default: null,
    text: "The platform's public key or certificate, PEM text or a file's path; then no other key is used.",
  },
  AUTH: {
    default: null,
    text: '"off" switches the token check off, for local experiments: anyone can then call the tools without paying.',
  },
  MAX_TOKEN_SECONDS: {
    default: null,
    text: 'How long a token may be valid, in seconds. Ten times what the tokens of the platform are, unless set.',
  },
  TOKEN_ONCE: {
    default: 'off',
    text: '"on" takes each token (its "jti") for one call only, on this replica. Leave it off where the platform calls again with the same token, as it does after a failure and in the submission test.',
  },
  SESSION_SECRET: {
    default: null,
    text: '32 characters or more that sign the sessions, the same on every replica. Random for each process when unset.',
  },
  SESSION_TTL_SECONDS: { default: '2592000', text: 'Lifetime of a session, in seconds.' },
  ALLOWED_ORIGINS: {
    default: null,
    text: 'Web pages that may call the server, as origins separated by commas; "*" for all. Pages on localhost may, except in production.',
  },
  ALLOWED_HOSTS: {
    default: null,
    text: 'Host names by which the server may be called outside production, separated by commas; "*" for all. This machine\'s own and the host of PLATFORM_AUDIENCE always are.',
  },
  CLIENT_ADDRESS_HEADER: {
    default: null,
    text: 'Header in which your own proxy names its caller, such as x-forwarded-for (its last address counts). Set it only where every request comes through that proxy.',
  },
  MAX_BODY_BYTES: {
    default: '1048576',
    text: 'Size limit of a request that carries a token, in bytes.',
  },
  UNPAID_BODY_BYTES: {
    default: '65536',
    text: 'Size limit of a request without a token, in bytes; beyond it 413.',
  },
  UNPAID_BODY_MS: {
    default: '5000',
    text: 'Time in which the body of a request without a token must have arrived, in milliseconds; beyond it 408.',
  },
  BODY_BUDGET_BYTES: {
    default: '67108864',
    text: 'Memory of all requests that have not arrived whole, in bytes; beyond it the largest of them gets 503.',
  },
  ANSWER_BUDGET_BYTES: {
    default: '67108864',
    text: 'Memory of all answers that their callers have not read, in bytes; beyond it the connection that has stood still for longest is closed. Each may hold about as much again while it is made.',
  },
  ANSWER_STALL_MS: {
    default: '20000',
    text: 'Time in which a caller must read on, in milliseconds; beyond it the connection is closed.',
  },
  MAX_STREAMS: {
    default: '1000',
    text: 'Event streams that may be open, about 10 kB of memory each; beyond it the oldest of the address that holds most ends.',
  },
  MAX_CONNECTIONS: {
    default: '2000',
    text: 'Connections that may be open, about 15 kB of memory and one file descriptor each; beyond it the oldest idle one of the address that holds most is closed. Never more than three quarters of the descriptors that the process may open.',
  },
  MAX_PIPELINED: {
    default: '16',
    text: 'Requests that one connection may send ahead of their answers; beyond it the connection is closed.',
  },
  MAX_CALLS: {
    default: '1000',
    text: 'Tool calls that may run at once, each with the memory that its tool takes; beyond it 503.',
  },
  MAX_CALLS_PER_TOKEN: {
    default: '250',
    text: 'Tool calls that may run at once with one token; beyond it 503.',
  },
  MAX_LOOP_DELAY_MS: {
    default: '2000',
    text: 'Delay of the whole server beyond which requests get 503, in milliseconds.',
  },
  CALL_TIMEOUT_MS: {
    default: null,
    text: 'Deadline of a tool call, in milliseconds. Two seconds less than the platform waits, unless set.',
  },
  REQUEST_TIMEOUT_MS: {
    default: '30000',
    text: 'Time in which a request must have arrived, in milliseconds.',
  },
  SHUTDOWN_GRACE_MS: {
    default: '8000',
    text: 'Time that running calls get to finish after SIGTERM, in milliseconds. Docker kills after 10000.',
  },
} as const satisfies { readonly [name: string]: Variable };

export type VariableName = keyof typeof variables;
