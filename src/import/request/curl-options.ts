import { uriDecoded } from 'market-mcp-contract/command';
import type { AuthorRequest, Method, NameValue } from './author-request.ts';
import { pastedCommand } from './curl-text.ts';
import { withMultipartParts } from './request-body.ts';
import { RequestRefusal } from './request-refusal.ts';
import { splitCommandLine, unquotedVariables } from './shell-words.ts';

/**
 * What an option does, and whether it takes a value. An option that does `ignored` changes nothing in the request. A string is the
 * reason why the option is rejected.
 */
type OptionMeaning = { readonly takesValue: boolean; readonly effect: string } | string;

const takesValue = (effect: string): OptionMeaning => ({ takesValue: true, effect });
const withoutValue = (effect: string): OptionMeaning => ({ takesValue: false, effect });
const readsFileReason = 'it reads or writes a file of yours, and a tool cannot';
const insecureReason = 'a tool that earns money checks whom it speaks to';
const machineSettingReason = 'what it names is a setting of your machine';

/** The options of curl, each by its long name with its letter. An option that is not in the table is rejected. */
const optionTable: { readonly [name: string]: readonly [letter: string, meaning: OptionMeaning] } = {
  request: ['X', takesValue('method')],
  header: ['H', takesValue('header')],
  data: ['d', takesValue('data')],
  'data-ascii': ['', takesValue('data')],
  'data-binary': ['', takesValue('data')],
  'data-raw': ['', takesValue('raw')],
  'data-urlencode': ['', takesValue('encoded')],
  json: ['', takesValue('json')],
  form: ['F', takesValue('form')],
  'form-string': ['', takesValue('formString')],
  get: ['G', withoutValue('get')],
  user: ['u', takesValue('user')],
  'oauth2-bearer': ['', takesValue('bearer')],
  cookie: ['b', takesValue('cookie')],
  'user-agent': ['A', takesValue('agent')],
  referer: ['e', takesValue('referer')],
  url: ['', takesValue('url')],
  'url-query': ['', takesValue('urlQuery')],
  globoff: ['g', withoutValue('globoff')],
  ...optionsWithMeaning(
    'location L,compressed,silent s,show-error S,fail f,fail-with-body,verbose v,include i,progress-bar #,no-progress-meter,' +
      'http1.0 0,http1.1,http2,http2-prior-knowledge,http3,no-buffer N,ipv4 4,ipv6 6,tlsv1 1,tlsv1.2,tlsv1.3,basic,no-keepalive',
    withoutValue('ignored'),
  ),
  ...optionsWithMeaning(
    'max-time m,connect-timeout,retry,retry-delay,retry-max-time,max-redirs,write-out w,limit-rate',
    takesValue('ignored'),
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
export function curlRequest(line: string): AuthorRequest {
  const command = pastedCommand(line);
  const { words, pipe } = splitCommandLine(command);
  const options = parseOptions(words.slice(1));
  const optionsWithEffect = (...names: readonly string[]) =>
    options.filter(({ effect }) => names.includes(effect));
  const lastValue = (name: string) => optionsWithEffect(name).at(-1)?.value;
  const [url, ...otherUrls] = optionsWithEffect('url').map(({ value }) => value);
  if (url === undefined) throw new RequestRefusal('contains no URL', 'Paste the whole command.');
  if (otherUrls.length > 0)
    throw new RequestRefusal('contains several URLs', 'Give one --from-request for each.');
  const formParts = optionsWithEffect('form', 'formString');
  const data = joinData(optionsWithEffect('data', 'raw', 'encoded', 'json'));
  if (data !== null && formParts.length > 0)
    throw new RequestRefusal('mixes -F with -d', 'curl sends only one kind of body: remove the other.');
  const isQuery = optionsWithEffect('get').length > 0;
  const queryParts = [isQuery ? data : null, ...optionsWithEffect('urlQuery').map(queryPiece)];
  const addedQuery = queryParts.filter((part) => part !== null).join('&');
  const address = parseAddress(url, addedQuery, optionsWithEffect('globoff').length > 0);
  const dataBody = isQuery ? null : data;
  const body = formParts.length > 0 ? formParts.map(parseFormPart) : dataBody;
  const method = parseMethod(lastValue('method') ?? (body === null ? 'GET' : 'POST'), body !== null);
  const user = lastValue('user') ?? address.user;
  const impliedHeaders = impliedHeadersOf(options, user, typeof body === 'string');
  const headers = mergeHeaders(optionsWithEffect('header'), impliedHeaders);
  const shellVariables = unquotedVariables(command);
  return withMultipartParts({
    method,
    url: address.url,
    headers,
    body,
    shellVariables,
    pipe,
  });
}

/** The headers that curl adds because of options other than `-H`. */
function impliedHeadersOf(
  options: readonly Option[],
  user: string | undefined,
  hasTextBody: boolean,
): readonly NameValue[] {
  const valuesOf = (effect: string) =>
    options.filter((option) => option.effect === effect).map(({ value }) => value);
  const bearer = valuesOf('bearer').at(-1);
  const basic = user === undefined ? undefined : `Basic ${basicCredentials(user)}`;
  const isJson = valuesOf('json').length > 0;
  const cookies = valuesOf('cookie').filter((value) => value !== '');
  const headers: { [name: string]: string | undefined } = {};
  if (isJson) headers['content-type'] = 'application/json';
  else if (hasTextBody) headers['content-type'] = 'application/x-www-form-urlencoded';
  if (isJson) headers.accept = 'application/json';
  headers.authorization = bearer ? `Bearer ${bearer}` : basic;
  headers['user-agent'] = valuesOf('agent').at(-1);
  headers.referer = valuesOf('referer')
    .at(-1)
    ?.replace(/;auto.*$/s, '');
  headers.cookie = cookies.map(cookiePair).join(';');
  return Object.entries(headers).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
}

function parseMethod(name: string, hasBody: boolean): Method {
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
  readonly effect: string;
  /** As written: `--data`, `-d`. */
  readonly name: string;
  readonly value: string;
}

/** The options of a command, and its URLs as options with the effect `url`. */
function parseOptions(words: readonly string[]): readonly Option[] {
  const options: Option[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') continue;
    if (word.startsWith('--')) options.push(parseLongOption(word, rest));
    else if (/^-./.test(word)) options.push(...parseShortOptions(word, rest));
    else options.push({ effect: 'url', name: 'URL', value: word });
  }
  return options;
}

/** @param rest the words behind the option, from which its value is taken */
function parseLongOption(word: string, rest: string[]): Option {
  const name = word.slice(2);
  const meaning = supportedMeaning(
    word,
    Object.hasOwn(optionTable, name) ? optionTable[name]?.[1] : undefined,
  );
  return { effect: meaning.effect, name: word, value: meaning.takesValue ? takeValue(word, rest) : '' };
}

/** Parses letters behind one dash. The last one may take a value, which is attached or the next word. */
function parseShortOptions(word: string, rest: string[]): readonly Option[] {
  const options: Option[] = [];
  for (const [i, letter] of [...word].entries()) {
    if (i === 0) continue;
    const name = `-${letter}`;
    const row = Object.values(optionTable).find(([optionLetter]) => optionLetter === letter);
    const { effect, takesValue } = supportedMeaning(name, row?.[1]);
    if (!takesValue) {
      options.push({ effect, name, value: '' });
      continue;
    }
    const attachedValue = [...word].slice(i + 1).join('');
    return [...options, { effect, name, value: attachedValue || takeValue(name, rest) }];
  }
  return options;
}

function takeValue(name: string, rest: string[]): string {
  const value = rest.shift();
  if (value === undefined) throw new RequestRefusal(`has no value for ${name}`, 'Paste the whole command.');
  return value;
}

/** @throws RequestRefusal for an option that is unknown or rejected */
function supportedMeaning(name: string, meaning: OptionMeaning | undefined): Exclude<OptionMeaning, string> {
  if (meaning === undefined)
    throw new RequestRefusal(
      `has the option ${/^-{1,2}[\w-]*/.exec(name)?.[0]}, which is not read here`,
      'Remove it if the request does not need it.',
    );
  if (typeof meaning === 'string')
    throw new RequestRefusal(`has the option ${name}: ${meaning}`, `Remove ${name}.`);
  return meaning;
}

/** The data of all options together; null without any. Only `--json` joins without `&`. */
function joinData(pieces: readonly Option[]): string | null {
  if (pieces.length === 0) return null;
  return pieces
    .map((piece, i) => (i === 0 || piece.effect === 'json' ? '' : '&') + dataPiece(piece))
    .join('');
}

/** A part of the query. Behind a plus sign, curl does not encode it. */
function queryPiece({ name, value }: Option): string {
  if (value.startsWith('+')) return value.slice(1);
  return dataPiece({ effect: 'encoded', name, value });
}

function dataPiece({ effect, name, value }: Option): string {
  if (effect === 'raw') return value;
  if (effect !== 'encoded') {
    if (value.startsWith('@')) throw fileRefusal(name, value);
    return value;
  }
  const at = value.search(/[=@]/);
  if (value[at] === '@') throw fileRefusal(name, value);
  const [fieldName, content] = at < 0 ? ['', value] : [value.slice(0, at), value.slice(at + 1)];
  const encoded = encodeURIComponent(content)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
  if (fieldName === '') return encoded;
  return `${fieldName}=${encoded}`;
}

function fileRefusal(name: string, value: string): RequestRefusal {
  return new RequestRefusal(
    `has ${name} ${value.replace(/@.*/s, '@…')}: ${readsFileReason}`,
    'Write the data itself.',
  );
}

function parseFormPart({ effect, name, value }: Option): NameValue {
  const [, partName, content] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
  if (partName === undefined || content === undefined)
    throw new RequestRefusal(`has ${name} without name=value`, 'Write -F name=value.');
  if (effect === 'form' && /^[@<]/.test(content)) throw fileRefusal(name, `${partName}=@`);
  if (effect === 'form' && /^["(]|;/.test(content))
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
  takesBracketsLiterally: boolean,
): { readonly url: string; readonly user?: string } {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase() ?? 'http';
  if (scheme !== 'http' && scheme !== 'https')
    throw new RequestRefusal(
      `has a URL of ${scheme}:, and not of http or https`,
      'Give the address of an API.',
    );
  const withoutPlaceholders = text.replaceAll(/\$\{[A-Za-z_]\w*\}|\{[A-Za-z]\w*=[^{}\s/?#&]+\}/g, '');
  const glob = takesBracketsLiterally
    ? null
    : /\{[^{}]*\}|\[(?:[a-z]-[a-z]|\d+-\d+)(?::\d+)?\]/i.exec(withoutPlaceholders);
  if (glob) {
    const hint = 'Write one URL, with inputs of the path as {chain=base}; -g takes brackets as they are.';
    throw new RequestRefusal(`has ${glob[0]} in its URL, which curl replaces`, hint);
  }
  if (/^https?:\/(?!\/)/i.test(text))
    throw new RequestRefusal('has a URL with one slash behind its scheme', 'Write https://.');
  const absoluteUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = requireUrl(absoluteUrl, addedQuery);
  const [, path = '', query = ''] = /^[^:]+:\/\/[^/?#]*([^?#]*)(?:\?([^#]*))?/.exec(absoluteUrl) ?? [];
  requireUnchangedPath(path);
  const fullQuery = [query, addedQuery].filter((part) => part !== '').join('&');
  // `{name=value}` stays; the parser would encode it.
  const sentPath = (path.includes('{') ? path : url.pathname) || '/';
  const queryText = fullQuery === '' ? '' : `?${fullQuery}`;
  const address = { url: `${url.protocol}//${url.host}${sentPath}${queryText}` };
  if (url.username + url.password === '') return address;
  return { ...address, user: `${uriDecoded(url.username)}:${uriDecoded(url.password)}` };
}

function requireUrl(text: string, addedQuery: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && url.hostname !== '' && !/[\s\p{Cc}]/u.test(text + addedQuery)) return url;
  throw new RequestRefusal('has no valid URL', 'Paste the whole command, with its URL in quotes.');
}

/** @throws RequestRefusal for a path that fetch would send in another form */
function requireUnchangedPath(path: string): void {
  if (!/\\|\/(?=[.%2e]*%2e)(?:\.|%2e){1,2}(?![^/])/i.test(path)) return;
  throw new RequestRefusal(
    'has \\ or a segment with %2e for a dot in its path, which fetch changes',
    'Write the path as the API has it.',
  );
}

function basicCredentials(user: string): string {
  if (!user.includes(':'))
    throw new RequestRefusal(
      'has -u with a user alone, for whom curl asks the password',
      'Write -u user:password, or -u key: for a key.',
    );
  return Buffer.from(user).toString('base64');
}

function cookiePair(value: string): string {
  if (!value.includes('=')) throw fileRefusal('-b', '@');
  return value;
}

/** The headers of `-H` replace the implied ones. `Name:` removes an implied header, `Name;` sends an empty one. */
function mergeHeaders(
  headerOptions: readonly Option[],
  impliedHeaders: readonly NameValue[],
): readonly NameValue[] {
  const headers = new Map(impliedHeaders.map(([name, value]) => [name, value]));
  const namesOfOptions = new Set<string>();
  for (const { value: text } of headerOptions) {
    const { name, sign, value } = parseHeader(text);
    if (sign === ';' && value !== '') continue;
    if (sign === ':' && value === '') {
      if (!namesOfOptions.has(name)) headers.delete(name);
      continue;
    }
    const earlierValues = namesOfOptions.has(name) ? `${headers.get(name)}, ` : '';
    namesOfOptions.add(name);
    headers.set(name, earlierValues + value);
  }
  return [...headers];
}

function parseHeader(text: string): { readonly name: string; readonly sign: string; readonly value: string } {
  if (text.startsWith('@')) throw fileRefusal('-H', text);
  const [, name = '', sign, value = ''] = /^([!#$%&'*+.^_`|~\w-]+)\s*([:;])([^\r\n\0]*)$/.exec(text) ?? [];
  if (sign === undefined)
    throw new RequestRefusal('has -H with a text that is no header', "Write -H 'name: value', on one line.");
  return { name: name.toLowerCase(), sign, value: value.trim() };
}
