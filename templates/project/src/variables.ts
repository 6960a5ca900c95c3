/** An environment variable of the server. */
export interface Variable {
  /** The value in effect where the variable is unset or empty; null where there is none, or where the text says it. */
  readonly default: string | null;
  readonly text: string;
}

/** Every environment variable that the server reads. */
export const variables = {
  PORT: { default: '3000', text: 'Port to listen on.' },
  HOST: { default: '0.0.0.0', text: 'Address to listen on.' },
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
  SESSION_SECRET: {
    default: null,
    text: '32 characters or more that sign the sessions, the same on every replica. Random for each process when unset.',
  },
  SESSION_TTL_SECONDS: { default: '2592000', text: 'Lifetime of a session, in seconds.' },
  ALLOWED_ORIGINS: {
    default: null,
    text: 'Web pages that may call the server, as origins separated by commas; "*" for all. Pages on localhost may, except in production.',
  },
  MAX_BODY_BYTES: { default: '1048576', text: 'Size limit of a request, in bytes.' },
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
