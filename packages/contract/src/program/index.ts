/** The command line of a check. */
export { requireListed } from './calls.ts';
export { type CheckFrontend, checkUrl, type OpenedServer, openAndCheck } from './check.ts';
export { explain } from './explain.ts';
export { rerunCommand, targetCheckOptions } from './options.ts';
export { targetAtUrl } from './server.ts';
export { urlFlags } from './url-flags.ts';
