import { expect, it } from 'vitest';
import { decodeText, encodeText, inStyle, serializeJson } from '../../../src/project/read/file-text.ts';
import fc from '../../fast-check.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

it('every file survives as text, whatever its encoding', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    fc
      .tuple(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 3 }))
      .map(([text, rest]) => Buffer.concat([Buffer.from(text), rest, Buffer.from(text)])),
  );
  fc.assert(
    fc.property(bytes, (content) => {
      expect(hex(encodeText(decodeText(content)))).toBe(hex(content));
      if (!content.includes(13))
        expect(hex(inStyle('', decodeText(content)))).toBe(hex(withoutMark(content)));
    }),
  );
});

function withoutMark(content: Uint8Array): Uint8Array {
  return hex(content).startsWith('efbbbf') ? content.subarray(3) : content;
}

it('UTF-8 in a file with other bytes is still read as UTF-8', () => {
  const text = decodeText(Buffer.concat([Buffer.from('é€😀'), Uint8Array.of(0xe9, 0xed, 0xa0, 0x80)]));
  expect(text).toBe('é€😀\udce9\udced\udca0\udc80');
});

it('JSON has the same bytes as the parsed text', () => {
  const content = Buffer.from('{"a":"\xe9 \\\\udce9 \\n","b":["\xfc"]}', 'latin1');
  expect(hex(encodeText(serializeJson(JSON.parse(decodeText(content)), 0)))).toBe(hex(content));
});
