// The URL of a shared store.

/** Where Sentinels know the server that takes writes, with what the server itself asks for. */
export interface Sentinel {
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** The name under which they know it. */
  readonly name: string;
  readonly username?: string;
  readonly password?: string;
  readonly db: number;
}

const expected =
  'expected a URL such as redis://user:password@host:6379/0, or redis+sentinel://user:password@host:26379,host:26379/name/0 with Sentinels, with special characters of the password as %XX.';
const noCluster = 'Redis Cluster is not supported: expected the URL of one server, or of its Sentinels.';

/** The value of STATE_URL; null if it is unset. @throws Error that does not repeat the value: it may contain a password */
export function stateUrlOf(text: string | null): string | null {
  if (text === null) return null;
  const isCluster = /^rediss?\+cluster:/i.test(text) || /^rediss?:\/\/[^/]*,[^/]*(?:\/|$)/i.test(text);
  if (isCluster) throw new Error(noCluster);
  const url = parseStateUrl(text);
  const isRedis = /^rediss?:$/.test(url?.protocol ?? '') && /^\/?\d{0,9}$/.test(url?.pathname ?? '');
  if (isRedis && url?.hostname && secretsInUrl(text) !== null) return text;
  throw new Error(expected);
}

/** The value of TOKEN_STATE_URL. @throws Error if it is no URL of another server */
export function tokenStateUrlOf(text: string | null, stateUrl: string | null | undefined): string | null {
  const url = stateUrlOf(text);
  if (url === null || stateUrl === undefined) return url;
  if (stateUrl === null) throw new Error('needs STATE_URL, too: without it, replicas share nothing.');
  if (serverOf(url) !== serverOf(stateUrl)) return url;
  throw new Error('expected another server than that of STATE_URL: its databases share one memory.');
}

/** What a URL of Sentinels says; undefined for a URL of a server. */
export function sentinelOf(text: string): Sentinel | undefined {
  const [, account = '', hosts = '', name = '', db = '0'] = sentinelForm.exec(text) ?? [];
  if (name === '') return undefined;
  const [username = '', password = ''] = account.split(':').map(decodeURIComponent);
  const sentinels = hosts.split(',').map((host) => {
    const { hostname, port } = new URL(`http://${host}`);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 26_379) };
  });
  return { sentinels, name, db: Number(db), ...(username && { username }), ...(password && { password }) };
}

/** What the log must not contain of a URL, in both forms; null if it cannot be decoded. */
export function secretsInUrl(text: string): readonly string[] | null {
  try {
    const { password = '', search = '' } = parseStateUrl(text) ?? {};
    return [password, decodeURIComponent(password), search].filter((secret) => secret !== '');
  } catch {
    return null;
  }
}

/** Captures the account, the hosts, the name and the number of the database. */
const sentinelForm =
  /^redis\+sentinel:\/\/(?:([^@/?#]*)@)?((?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?(?:,(?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?)*)\/([\w.-]+)(?:\/(\d{1,9}))?$/i;

/** A URL of Sentinels as the URL of the first of them, because a list of hosts is no host. */
function parseStateUrl(text: string): URL | null {
  const [, account, hosts = '', , db = '0'] = sentinelForm.exec(text) ?? [];
  const userInfo = account === undefined ? '' : `${account}@`;
  const plainUrl = hosts === '' ? text : `redis://${userInfo}${hosts.split(',')[0]}/${db}`;
  if (URL.canParse(plainUrl)) return new URL(plainUrl);
  return null;
}

function serverOf(text: string): string {
  return `${parseStateUrl(text)?.host} ${sentinelOf(text)?.name}`;
}
