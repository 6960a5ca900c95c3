import { isJwt, isKeyName } from './key-names.ts';
import { uriDecoded } from './uri.ts';

/** A part of a URL as it is written. */
export interface UrlPart {
  readonly text: string;
  /** Replaces a secret in print, as a variable of the shell: `$URL_KEY`. Absent: the part is no secret. */
  readonly variable?: string;
}

/** `https://…`, `https:/…`; not `C:\…`. */
const schemeForm = /^\s*[a-z][a-z\d+.-]+:[\\/]/i;
/** `localhost:3000/mcp`, `tools.example.com/mcp`; not the path of a file. */
const hostForm =
  /^\s*(?:[^\s"\\/?#]+@)?(?:localhost|\[[\da-f:.]+\]|[\w-]+(?:\.[\w-]+)+|[\w-]+(?=:\d))(?::\d+)?[\\/?#]/i;

/** Scheme with slashes, user, host with port, path, query with fragment. */
const urlForm = /^(\s*(?:[a-z][a-z\d+.-]*:)?[\\/]*)((?:[^\\/?#]*(?=@))?)([^\\/?#]*)([^?#]*)(.*)$/is;

/**
 * The parts of a URL. Secrets are user and password, a query member with the name of a key or with a JWT, and a path segment that
 * is random or a JWT. The fragment counts as query. A text that is no URL is one part.
 */
export function urlParts(text: string): readonly UrlPart[] {
  const isUrl = schemeForm.test(text) || hostForm.test(text);
  if (!isUrl) return [{ text }];
  const [, scheme = '', user = '', host = '', path = '', query = ''] = urlForm.exec(text) ?? [];
  return numbered([
    { text: scheme, isSecret: false },
    { text: user, isSecret: user !== '' },
    { text: host, isSecret: false },
    ...pathParts(path),
    ...queryParts(query),
  ]);
}

/** The parts of the target of a request, a path with its query (RFC 9112 §3.2). */
export function targetParts(target: string): readonly UrlPart[] {
  const end = target.search(/[?#]|$/);
  return numbered([...pathParts(target.slice(0, end)), ...queryParts(target.slice(end))]);
}

/** Whether a text is a URL that contains a secret. */
export function hasUrlSecret(text: string): boolean {
  return urlParts(text).some(isMasked);
}

/** Returns a URL with variables instead of its secrets, and any other text unchanged. */
export function maskUrl(text: string): string {
  return urlParts(text)
    .map((part) => part.variable ?? part.text)
    .join('');
}

/** Shorter secrets are masked only with the name of their query member: they may be ordinary words. */
const leastLength = 8;

/** Returns a function that masks what is secret in these URLs, wherever a text or JSON repeats it. */
export function urlMasker(urls: readonly string[]): (text: string) => string {
  const masks = new Map(urls.flatMap(masksOf));
  const forms = [...masks.keys()].toSorted((a, b) => b.length - a.length);
  return (text) => forms.reduce((masked, form) => masked.replaceAll(form, () => masks.get(form) ?? ''), text);
}

/** A value of JSON in which a function has masked each text. */
export function maskJson<T extends object>(value: T, mask: (text: string) => string): T {
  return JSON.parse(mask(JSON.stringify(value)));
}

/** The forms of the secrets of a URL, and what replaces each. */
function masksOf(url: string): readonly (readonly [form: string, mask: string])[] {
  const parts = urlParts(url);
  if (!parts.some(isMasked)) return [];
  const secrets = parts.flatMap(({ text, variable }, i) => {
    if (variable === undefined) return [];
    const before = parts[i - 1]?.text ?? '';
    const member = /[^?&;#]*=$/.exec(before)?.[0] ?? '';
    const password = text.replace(/^[^:]*:/, '');
    const texts = [text, password].flatMap((secret) => [secret, uriDecoded(secret)]);
    const forms = texts.flatMap((secret) => [secret, encodeURIComponent(secret), ...base64Forms(secret)]);
    return [
      ...forms.filter((form) => form.length >= leastLength).map((form) => [form, variable] as const),
      ...(member === '' ? [] : [[member + text, member + variable] as const]),
    ];
  });
  const wholeUrls = URL.canParse(url) ? [url.trim(), new URL(url).href] : [url.trim()];
  const masks = [...wholeUrls.map((form) => [form, maskUrl(form)] as const), ...secrets];
  return [...masks, ...masks.map(([form, mask]) => [JSON.stringify(form).slice(1, -1), mask] as const)];
}

/** What base64 contains of a text, whatever stands before and after it. */
function base64Forms(text: string): readonly string[] {
  const forms = [0, 1, 2].map((offset) => {
    const encoded = Buffer.from(' '.repeat(offset) + text).toString('base64');
    return encoded.slice(offset === 0 ? 0 : 4, -4);
  });
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}

function isMasked({ variable }: UrlPart): boolean {
  return variable !== undefined;
}

interface Piece {
  readonly text: string;
  readonly isSecret: boolean;
}

/** The parts, with the text between two secrets as one. Equal secrets have one variable: `$URL_KEY`, `$URL_KEY2`. */
function numbered(pieces: readonly Piece[]): readonly UrlPart[] {
  const secrets = [...new Set(pieces.filter((piece) => piece.isSecret).map(({ text }) => text))];
  const parts: UrlPart[] = [];
  let openText = '';
  for (const { text, isSecret } of pieces) {
    if (!isSecret) {
      openText += text;
      continue;
    }
    if (openText !== '') parts.push({ text: openText });
    openText = '';
    const index = secrets.indexOf(text);
    parts.push({ text, variable: index === 0 ? '$URL_KEY' : `$URL_KEY${index + 1}` });
  }
  if (openText === '' && parts.length > 0) return parts;
  return [...parts, { text: openText }];
}

/** A JWT, or the variable of a secret in a URL that was printed. */
function isSecretText(text: string): boolean {
  return isJwt(text) || /^\$URL_KEY\d*$/.test(text);
}

function pathParts(path: string): readonly Piece[] {
  return path.split(/([\\/])/).map((text) => {
    const segment = uriDecoded(text);
    return { text, isSecret: isRandom(segment) || isSecretText(segment) };
  });
}

function queryParts(query: string): readonly Piece[] {
  return query.split(/([?&;#])/).flatMap((member) => {
    const [, name = '', value = member] = /^([^=]*=)(.*)$/s.exec(member) ?? [];
    const text = uriDecoded(value.replaceAll('+', ' '));
    const isKey = isSecretMember(uriDecoded(name.slice(0, -1))) && text !== '';
    return [
      { text: name, isSecret: false },
      { text: value, isSecret: isKey || isSecretText(text) },
    ];
  });
}

/** A signed URL gives access as a key does (S3, Azure). */
function isSecretMember(name: string): boolean {
  return isKeyName(name) || /(?:^|[-_])sig(?:nature)?$/i.test(name);
}

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i;
const leastCharacters = 20;

/** A digit beside a letter; a capital after a small letter that does not begin a word, as it does in camel case. */
const change = /(?<=[A-Za-z])\d|(?<=\d)[A-Za-z]|(?<=[a-z])[A-Z](?![a-z]{2})/g;

/**
 * Whether a path segment is random: a UUID, or 20 characters or more of a mixture. In a mixture, one of seven letters and digits is a
 * change. A number of 20 digits is also random. Words with hyphens, dates, versions and camel case are not random.
 */
export function isRandom(segment: string): boolean {
  if (uuid.test(segment)) return true;
  if (segment.length < leastCharacters) return false;
  const characters = segment.replaceAll(/[^a-z\d]/gi, '').length;
  const changes = segment.match(change)?.length ?? 0;
  return /^\d+$/.test(segment) || changes * 7 >= Math.max(characters, 1);
}
