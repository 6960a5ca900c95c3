import { uriDecoded } from 'market-mcp-contract/command';
import { pastedCommand } from './curl-text.ts';
import { withParts } from './given-body.ts';
import type { GivenRequest, Method, NameValue } from './given-request.ts';
import { RequestRefusal } from './request-refusal.ts';
import { commandWords, unquotedVariables } from './shell-words.ts';

/**
 * What an option does, and whether it takes a value. An option that does `ignored` changes nothing in the request. A string is the
 * reason why the option is rejected.
 */
type OptionMeaning = { readonly takes: boolean; readonly does: string } | string;

const takes = (does: string): OptionMeaning => ({ takes: true, does });
const flag = (does: string): OptionMeaning => ({ takes: false, does });
const readsFileReason = 'it reads or writes a file of yours, and a tool cannot';
const insecureReason = 'a tool that earns money checks whom it speaks to';
const machineSettingReason = 'what it names is a setting of your machine';

/** The options of curl, each by its long name with its letter. An option that is not in the table is rejected. */
const table: { readonly [name: string]: readonly [letter: string, meaning: OptionMeaning] } = {
  request: ['X', takes('method')],
  header: ['H', takes('header')],
  data: ['d', takes('data')],
  'data-ascii': ['', takes('data')],
  'data-binary': ['', takes('data')],
  'data-raw': ['', takes('raw')],
  'data-urlencode': ['', takes('encoded')],
  json: ['', takes('json')],
  form: ['F', takes('form')],
  'form-string': ['', takes('formString')],
  get: ['G', flag('get')],
  user: ['u', takes('user')],
  'oauth2-bearer': ['', takes('bearer')],
  cookie: ['b', takes('cookie')],
  'user-agent': ['A', takes('agent')],
  referer: ['e', takes('referer')],
  url: ['', takes('url')],
  'url-query': ['', takes('urlQuery')],
  globoff: ['g', flag('globoff')],
  ...optionsWithMeaning(
    'location L,compressed,silent s,show-error S,fail f,fail-with-body,verbose v,include i,progress-bar #,no-progress-meter,' +
      'http1.0 0,http1.1,http2,http2-prior-knowledge,http3,no-buffer N,ipv4 4,ipv6 6,tlsv1 1,tlsv1.2,tlsv1.3,basic,no-keepalive',
    flag('ignored'),
  ),
  ...optionsWithMeaning(
    'max-time m,connect-timeout,retry,retry-delay,retry-max-time,max-redirs,write-out w,limit-rate',
    takes('ignored'),
  ),
  ...optionsWithMeaning('insecure k,proxy-insecure,cacert,capath,ciphers,pinnedpubkey', insecureReason),
  ...optionsWithMeaning(
    'cert E,key,cert-type,pass,proxy x,noproxy,preproxy,proxy-user U,socks5,unix-socket,interface,resolve,connect-to',
    machineSettingReason,
  ),
  ...optionsWithMeaning(
    'upload-file T,config K,netrc n,netrc-file,output o,remote-name O,remote-header-name J,cookie-jar c,dump-header D,trace',
    readsFileReason,
  ),
  'tr-encoding': ['', 'it asks for a transfer that fetch does not read'],
  head: ['I', 'it asks for the headers alone, and a tool needs the answer'],
  next: [':', 'it starts a second request'],
};

/** @param names long names, each with its letter behind a space, separated by commas */
function optionsWithMeaning(
  names: string,
  meaning: OptionMeaning,
): { readonly [name: string]: readonly [string, OptionMeaning] } {
  return Object.fromEntries(
    names.split(',').map((option) => {
      const [name = '', letter = ''] = option.split(' ');
      return [name, [letter, meaning]];
    }),
  );
}

/**
 * The request that curl would send for a command line.
 *
 * @throws RequestRefusal with the name of the rejected option
 */
export function curlRequest(line: string): GivenRequest {
  let pipe: string | undefined;
  const command = pastedCommand(line);
  const [, ...words] = commandWords(command, (pipeText) => {
    pipe = pipeText;
  });
  const options = parseOptions(words);
  const optionsThat = (...names: readonly string[]) => options.filter(({ does }) => names.includes(does));
  const last = (name: string) => optionsThat(name).at(-1)?.value;
  const [url, ...otherUrls] = optionsThat('url').map(({ value }) => value);
  if (url === undefined) throw new RequestRefusal('contains no URL', 'Paste the whole command.');
  if (otherUrls.length > 0)
    throw new RequestRefusal('contains several URLs', 'Give one --from-request for each.');
  const parts = optionsThat('form', 'formString');
  const data = joinData(optionsThat('data', 'raw', 'encoded', 'json'));
  if (data !== null && parts.length > 0)
    throw new RequestRefusal('mixes -F with -d', 'curl sends only one kind of body: remove the other.');
  const isQuery = optionsThat('get').length > 0;
  const queryParts = [isQuery ? data : null, ...optionsThat('urlQuery').map(queryPieceOf)];
  const addedQuery = queryParts.filter((part) => part !== null).join('&');
  const address = parseAddress(url, addedQuery, optionsThat('globoff').length > 0);
  const dataBody = isQuery ? null : data;
  const body = parts.length > 0 ? parts.map(formPart) : dataBody;
  const method = methodOf(last('method') ?? (body === null ? 'GET' : 'POST'), body !== null);
  const user = last('user') ?? address.user;
  const bearer = last('bearer');
  const basic = user === undefined ? '' : `Basic ${basicOf(user)}`;
  const isJson = optionsThat('json').length > 0;
  const formType = typeof body === 'string' ? 'application/x-www-form-urlencoded' : '';
  const impliedHeaders = {
    'content-type': isJson ? 'application/json' : formType,
    accept: isJson ? 'application/json' : '',
    authorization: bearer ? `Bearer ${bearer}` : basic,
    'user-agent': last('agent') ?? '',
    referer: last('referer')?.replace(/;auto.*$/s, '') ?? '',
    cookie: optionsThat('cookie')
      .flatMap(({ value }) => (value === '' ? [] : cookieOf(value)))
      .join(';'),
  };
  const sentHeaders = Object.entries(impliedHeaders).filter(([, value]) => value !== '');
  const headers = mergeHeaders(optionsThat('header'), sentHeaders);
  const variables = unquotedVariables(command);
  return withParts({ method, url: address.url, headers, body, variables, ...(pipe && { pipe }) });
}

function methodOf(name: string, hasBody: boolean): Method {
  if (!/^(?:GET|POST|PUT|PATCH|DELETE)$/.test(name))
    throw new RequestRefusal(
      `has the method ${/^[a-z]{1,12}$/i.test(name) ? name : '…'}`,
      'A tool sends GET, POST, PUT, PATCH or DELETE, in capitals.',
    );
  if (name === 'GET' && hasBody)
    throw new RequestRefusal(
      'sends a body with GET, which fetch cannot',
      'Remove -X GET, or add -G to send the data in the query.',
    );
  return name.toLowerCase() as Method;
}

interface Option {
  readonly does: string;
  /** As written: `--data`, `-d`. */
  readonly name: string;
  readonly value: string;
}

function parseOptions(words: readonly string[]): readonly Option[] {
  const options: Option[] = [];
  const rest = [...words];
  const add = (name: string, meaning: OptionMeaning | undefined, attached: string | undefined) => {
    if (meaning === undefined)
      throw new RequestRefusal(
        `has the option ${/^-{1,2}[\w-]*/.exec(name)?.[0]}, which is not read here`,
        'Remove it if the request does not need it.',
      );
    if (typeof meaning === 'string')
      throw new RequestRefusal(`has the option ${name}: ${meaning}`, `Remove ${name}.`);
    const value = meaning.takes ? (attached ?? rest.shift()) : '';
    if (value === undefined) throw new RequestRefusal(`has no value for ${name}`, 'Paste the whole command.');
    options.push({ does: meaning.does, name, value });
    return meaning.takes;
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word.startsWith('--') && word.length > 2) {
      const name = word.slice(2);
      add(word, Object.hasOwn(table, name) ? table[name]?.[1] : undefined, undefined);
    } else if (/^-./.test(word) && word !== '--') {
      for (let at = 1; at < word.length; at += 1) {
        const letter = word[at] ?? '';
        const meaning = Object.values(table).find(([optionLetter]) => optionLetter === letter)?.[1];
        const attached = word.length > at + 1 ? word.slice(at + 1) : undefined;
        if (add(`-${letter}`, meaning, attached)) break;
      }
    } else if (word !== '--') {
      options.push({ does: 'url', name: 'URL', value: word });
    }
  }
  return options;
}

/** The data of all options together; null without any. Only `--json` joins without `&`. */
function joinData(pieces: readonly Option[]): string | null {
  if (pieces.length === 0) return null;
  return pieces.map((piece, i) => (i === 0 || piece.does === 'json' ? '' : '&') + pieceOf(piece)).join('');
}

/** A part of the query. Behind a plus sign, curl does not encode it. */
function queryPieceOf({ name, value }: Option): string {
  if (value.startsWith('+')) return value.slice(1);
  return pieceOf({ does: 'encoded', name, value });
}

function pieceOf({ does, name, value }: Option): string {
  if (does === 'raw') return value;
  if (does !== 'encoded') {
    if (value.startsWith('@')) throw readsFile(name, value);
    return value;
  }
  const at = value.search(/[=@]/);
  if (value[at] === '@') throw readsFile(name, value);
  const [fieldName, content] = at < 0 ? ['', value] : [value.slice(0, at), value.slice(at + 1)];
  const encoded = encodeURIComponent(content)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
  if (fieldName === '') return encoded;
  return `${fieldName}=${encoded}`;
}

function readsFile(name: string, value: string): RequestRefusal {
  return new RequestRefusal(
    `has ${name} ${value.replace(/@.*/s, '@…')}: ${readsFileReason}`,
    'Write the data itself.',
  );
}

function formPart({ does, name, value }: Option): NameValue {
  const [, partName, content] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
  if (partName === undefined || content === undefined)
    throw new RequestRefusal(`has ${name} without name=value`, 'Write -F name=value.');
  if (does === 'form' && /^[@<]/.test(content)) throw readsFile(name, `${partName}=@`);
  if (does === 'form' && /^["(]|;/.test(content))
    throw new RequestRefusal(
      `has ${name} ${partName} with more than a text`,
      'Write -F name=value, or --form-string.',
    );
  return [partName, content];
}

/** An address as curl sends it, and the user that it contains. */
function parseAddress(
  text: string,
  addedQuery: string,
  isPlain: boolean,
): { readonly url: string; readonly user?: string } {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase() ?? 'http';
  if (scheme !== 'http' && scheme !== 'https')
    throw new RequestRefusal(
      `has a URL of ${scheme}:, and not of http or https`,
      'Give the address of an API.',
    );
  const withoutPlaceholders = text.replaceAll(/\$\{[A-Za-z_]\w*\}|\{[A-Za-z]\w*=[^{}\s/?#&]+\}/g, '');
  const glob = isPlain ? null : /\{[^{}]*\}|\[(?:[a-z]-[a-z]|\d+-\d+)(?::\d+)?\]/i.exec(withoutPlaceholders);
  if (glob) {
    const hint = 'Write one URL, with inputs of the path as {chain=base}; -g takes brackets as they are.';
    throw new RequestRefusal(`has ${glob[0]} in its URL, which curl replaces`, hint);
  }
  if (/^https?:\/(?!\/)/i.test(text))
    throw new RequestRefusal('has a URL with one slash behind its scheme', 'Write https://.');
  const absoluteUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(absoluteUrl) ? new URL(absoluteUrl) : null;
  if (!url || /[\s\p{Cc}]/u.test(absoluteUrl + addedQuery) || url.hostname === '')
    throw new RequestRefusal('has no valid URL', 'Paste the whole command, with its URL in quotes.');
  const user =
    url.username + url.password === ''
      ? undefined
      : `${uriDecoded(url.username)}:${uriDecoded(url.password)}`;
  const [, path = '', query] = /^[^:]+:\/\/[^/?#]*([^?#]*)(?:\?([^#]*))?/.exec(absoluteUrl) ?? [];
  if (/\\|\/(?=[.%2e]*%2e)(?:\.|%2e){1,2}(?![^/])/i.test(path))
    throw new RequestRefusal(
      'has \\ or a segment with %2e for a dot in its path, which fetch changes',
      'Write the path as the API has it.',
    );
  const fullQuery = [query, addedQuery].filter((part) => part !== undefined && part !== '').join('&');
  // `{name=value}` stays; the parser would encode it.
  const place = path.includes('{') ? path : url.pathname;
  return {
    url: `${url.protocol}//${url.host}${place || '/'}${fullQuery === '' ? '' : `?${fullQuery}`}`,
    ...(user && { user }),
  };
}

function basicOf(user: string): string {
  if (!user.includes(':'))
    throw new RequestRefusal(
      'has -u with a user alone, for whom curl asks the password',
      'Write -u user:password, or -u key: for a key.',
    );
  return Buffer.from(user).toString('base64');
}

function cookieOf(value: string): string {
  if (!value.includes('=')) throw readsFile('-b', '@');
  return value;
}

/** The headers of the author replace the implied ones. `Name:` removes an implied header, `Name;` sends an empty one. */
function mergeHeaders(
  headerOptions: readonly Option[],
  impliedHeaders: readonly NameValue[],
): readonly NameValue[] {
  const headers = new Map(impliedHeaders.map(([name, value]) => [name, value]));
  const names = new Set<string>();
  for (const { value: text } of headerOptions) {
    if (text.startsWith('@')) throw readsFile('-H', text);
    const [, headerName = '', sign, value = ''] =
      /^([!#$%&'*+.^_`|~\w-]+)\s*([:;])([^\r\n\0]*)$/.exec(text) ?? [];
    const name = headerName.toLowerCase();
    if (sign === undefined)
      throw new RequestRefusal(
        'has -H with a text that is no header',
        "Write -H 'name: value', on one line.",
      );
    if (sign === ';' && value.trim() !== '') continue;
    if (sign === ':' && value.trim() === '') {
      if (!names.has(name)) headers.delete(name);
      continue;
    }
    const before = names.has(name) ? `${headers.get(name)}, ` : '';
    names.add(name);
    headers.set(name, before + value.trim());
  }
  return [...headers];
}
