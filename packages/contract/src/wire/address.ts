/** Whether the host name of a URL is this machine, for programs that call a server on it: 0.0.0.0 and other names are not. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Where an address leads: to this machine, to its link (where clouds serve the keys of a machine), or elsewhere. */
export type AddressScope = 'loopback' | 'link-local' | 'elsewhere';

/**
 * Where a URL leads, by its host name: names are not resolved. URLs contain IPv4 in any form (`0x7f.1`) as four
 * decimal numbers, and IPv6 in brackets.
 */
export function addressScope({ hostname }: URL): AddressScope {
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
