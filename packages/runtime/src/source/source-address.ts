// Checks the address of a source: loopback and link-local.

import { isProduction, startErrors, startWarnings } from '../process.ts';

/** The address of a source whose variable is not set. */
export const addressNotSet = 'https://not-set.invalid';

// The contract has the same function in packages/contract/src/wire/address.ts: test/runtime/address.test.ts tests both.

/** The target of an address: this machine, its local link (where clouds serve the keys of a machine), or another host. */
export type Reach = 'loopback' | 'link-local' | 'elsewhere';

/**
 * The target of a URL, by its host name, which is not resolved. `URL` writes IPv4 in any form (`0x7f.1`) as four decimal numbers, and IPv6
 * in brackets.
 */
export function reachOf({ hostname }: URL): Reach {
  const name = hostname.replace(/\.$/, '');
  // IPv4 inside IPv6: mapped, compatible, translated (RFC 4291 §2.5.5, RFC 6052 §2.1).
  const [, high, low] =
    /^\[(?:::(?:ffff:(?:0:)?)?|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(name) ?? [];
  const bytes = [high, low].flatMap((part = '') => [parseInt(part, 16) >> 8, parseInt(part, 16) & 255]);
  const host = high === undefined ? name : bytes.join('.');
  if (/^(?:127|0)\.\d+\.\d+\.\d+$|^\[::1?\]$|^(?:.+\.)?localhost$/.test(host)) return 'loopback';
  const isLocal = /^169\.254\.\d+\.\d+$|^\[fe[89ab][\da-f]:/.test(host) || metadataHosts.includes(host);
  return isLocal ? 'link-local' : 'elsewhere';
}

/** Where clouds serve the keys of a machine, beside 169.254.0.0/16: AWS, Google (name and address), Alibaba. */
const metadataHosts = ['[fd00:ec2::254]', 'metadata.google.internal', '[fd20:ce::254]', '100.100.100.200'];

/**
 * Reports the address of a source before the server starts in production: link-local is an error unless
 * SOURCES_LINK_LOCAL is `allow`, loopback a warning, since a sidecar may listen there.
 *
 * @param address without a password
 */
export function reportAddress(address: string, kind = 'base URL'): void {
  if (!isProduction() || !URL.canParse(address)) return;
  const url = new URL(address);
  const reach = reachOf(url);
  const place = `The ${kind} ${url.origin} of a source is ${reach}`;
  if (reach === 'loopback') startWarnings.push(`${place}: its API must run beside this server.`);
  if (reach !== 'link-local' || process.env.SOURCES_LINK_LOCAL?.trim() === 'allow') return;
  startErrors.push(
    `${place}: clouds serve the keys of a machine at such addresses. To allow it, set SOURCES_LINK_LOCAL=allow.`,
  );
}
