/** The good server as a program, with the environment of a generated one. BROKEN names the rule to break. */
import { generateKeyPairSync } from 'node:crypto';
import { type Breaks, createSteps, serve, type Trust } from './good-server.ts';

const { env } = process;
const broken = (rule: string): boolean => env.BROKEN === `process.${rule}`;
const production = env.NODE_ENV === 'production';
const defaultPort = broken('default-port') ? 0 : 3000;
const port = Number(env.PORT || defaultPort);

const errors = [
  env.PLATFORM_PUBLIC_KEY || env.PLATFORM_JWKS_URL || broken('no-key')
    ? ''
    : 'PLATFORM_PUBLIC_KEY must be set.',
  production && env.AUTH === 'off' && !broken('production-auth') ? 'AUTH may not be off in production.' : '',
  production && !env.PLATFORM_AUDIENCE && !broken('production-audience')
    ? 'PLATFORM_AUDIENCE must be set.'
    : '',
  production && env.PLATFORM_AUDIENCE?.startsWith('http:') && !broken('production-https')
    ? 'PLATFORM_AUDIENCE must be an https URL.'
    : '',
].filter(Boolean);
if (errors.length > 0) fail(errors);

/** Of a key set that cannot be fetched. */
const nobodys = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048 })
    .publicKey.export({ type: 'spki', format: 'pem' })
    .toString();
const trust: Trust = {
  publicKey: env.PLATFORM_PUBLIC_KEY || nobodys(),
  issuer: env.PLATFORM_ISSUER ?? '',
  audience:
    production && broken('production') ? `http://127.0.0.1:${port}/mcp` : (env.PLATFORM_AUDIENCE ?? ''),
};
const isReady =
  env.BROKEN !== 'health.ready-paid' &&
  (env.PLATFORM_PUBLIC_KEY || env.BROKEN === 'health.ready-key') &&
  (env.PLATFORM_AUDIENCE !== 'pending' || env.BROKEN === 'health.ready-audience');
const kept: object[] = [];
/**
 * A request whose body contains DIES_AT ends the process a moment later, like an exception in a timer. One whose body
 * contains HANGS_AT is not answered.
 */
const dying: Breaks = {
  answer: (good, steps) => async (request) => {
    if (broken('log-secrets')) console.log(JSON.stringify([request.headers, request.body]));
    if (broken('memory')) kept.push({ ...request, copy: [...(request.body ?? '')] });
    if (broken('refused-runs-nothing') && request.body?.includes('tools/call'))
      await steps.respond(JSON.parse(request.body)).catch(() => {});
    if (request.path === '/ready') return { status: isReady ? 200 : 503, body: {} };
    if (env.HANGS_AT && request.body?.includes(env.HANGS_AT)) return new Promise(() => {});
    if (!env.DIES_AT || !request.body?.includes(env.DIES_AT)) return good(request);
    setTimeout(() => {
      throw new TypeError('the price feed is gone');
    });
    return new Promise(() => {});
  },
};
const { server } = await serve(createSteps(trust, dying), broken('port') && env.PORT ? 0 : port).catch(
  (error: NodeJS.ErrnoException) =>
    error.code === 'EADDRINUSE' && broken('busy-port') && env.PORT
      ? serve(createSteps(trust))
      : fail([`Port ${port}: ${error.message}`]),
);

process.on('SIGTERM', () => {
  if (broken('terminate') && production) process.exit(1);
  if (broken('terminate-during-call')) process.exit(0);
  const sweeping = setInterval(() => server.closeIdleConnections(), 20);
  server.close(() => {
    clearInterval(sweeping);
    process.exit(0);
  });
});

function fail(reasons: readonly string[]): never {
  console.error(reasons.join('\n'));
  process.exit(1);
}
