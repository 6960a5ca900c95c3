/** Why a request got no answer, in words and with the code of the error. */
export function networkReason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const words = reasons.get(code) ?? familyOf(code);
  if (words === undefined) return code || message;
  const [problem, advice] = words;
  return `${problem} (${code})${advice === undefined ? '' : `; ${advice}`}`;
}

/** Whether a connection ended before the answer. */
export function isReset(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'EPIPE';
}

type Words = readonly [what: string, advice?: string];

const closedEarly: Words = ['the server closed the connection before its answer was complete'];
const noHost: Words = ['the host name has no address', 'check its spelling and your network'];
const noRoute: Words = ['the host cannot be reached', 'check your network'];

const reasons: ReadonlyMap<string, Words> = new Map([
  ['ECONNREFUSED', ['nothing listens there']],
  ['ECONNRESET', closedEarly],
  ['EPIPE', closedEarly],
  ['ENOTFOUND', noHost],
  ['EAI_AGAIN', noHost],
  ['EHOSTUNREACH', noRoute],
  ['ENETUNREACH', noRoute],
  ['ETIMEDOUT', ['the host does not answer', 'check the address, and whether a firewall blocks it']],
  ['EPROTO', ['the TLS handshake failed', 'if the server speaks plain HTTP, use http://']],
  ['HPE_INVALID_CONSTANT', ['the answer is not HTTP', 'if the server speaks TLS, use https://']],
  ['CERT_HAS_EXPIRED', ['the TLS certificate has expired']],
  ['ERR_TLS_CERT_ALTNAME_INVALID', ['the TLS certificate is for another host']],
]);

function familyOf(code: string): Words | undefined {
  if (code.startsWith('HPE_')) return ['the answer is not valid HTTP'];
  if (/CERT|ISSUER|SIGNATURE/.test(code)) return ['the TLS certificate is not trusted'];
  return undefined;
}
