import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';

/** UTF-8 of one character, or else a single byte above ASCII; in a text of one character per byte. */
const characters =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|[\x80-\xff]/g;

/**
 * A file as text, with its byte order mark and line ends. A byte that is not UTF-8 becomes a lone surrogate (U+DC80 to U+DCFF), which
 * `encodeText` turns back, so no byte of an author is lost, whatever the encoding.
 */
export function decodeText(content: Uint8Array): string {
  if (isUtf8(content)) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);
  const bytes = Buffer.from(content).toString('latin1');
  return bytes.replace(characters, (part) =>
    part.length > 1
      ? Buffer.from(part, 'latin1').toString('utf8')
      : String.fromCharCode(0xdc00 + part.charCodeAt(0)),
  );
}

/** The bytes of a text of `decodeText`. */
export function encodeText(text: string): Uint8Array {
  const parts = text.split(/([\udc80-\udcff])/u);
  return Buffer.concat(
    parts.map((part, at) => (at % 2 === 0 ? Buffer.from(part) : Uint8Array.of(part.charCodeAt(0) - 0xdc00))),
  );
}

/** The value of a JSON file, which may begin with a byte order mark. @throws SyntaxError */
// biome-ignore lint/suspicious/noExplicitAny: as JSON.parse
export function parsedJson(content: Uint8Array | string): any {
  return JSON.parse(withLineFeeds(typeof content === 'string' ? content : new TextDecoder().decode(content)));
}

/** JSON for `encodeText`: JSON.stringify escapes lone surrogates. */
export function serializeJson(value: unknown, indent: string | number): string {
  const text = JSON.stringify(value, null, indent);
  return text.replace(/\\(?:u(dc[89a-f][0-9a-f])|.)/g, (part, code) =>
    code === undefined ? part : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Removes the byte order mark and normalizes line ends to `\n`. */
export function withLineFeeds(text: string): string {
  return text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
}

/** A text with the byte order mark and line ends of the author's copy. If that mixes line ends, the more frequent one is used. */
export function inStyle(authors: string, text: string): Uint8Array {
  const mark = authors.startsWith('\ufeff') ? '\ufeff' : '';
  const isWindows = (authors.split('\r\n').length - 1) * 2 > authors.split('\n').length - 1;
  const lines = withLineFeeds(text);
  return encodeText(mark + (isWindows ? lines.replaceAll('\n', '\r\n') : lines));
}

/** SHA-256 in hex. */
export function sha256(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}
