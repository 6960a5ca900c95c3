import { connect, type Socket } from 'node:net';

/** An HTTP answer. The body of an event stream is empty: it never ends. */
export interface Answer {
  readonly status: number;
  /** Status line and header lines. */
  readonly head: string;
  readonly body: string;
}

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** One raw HTTP/1.1 connection: bytes are sent, answers are read in order. */
export class Wire {
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  readonly ended: Promise<void>;
  /** Latin-1: one character per byte. */
  #received = '';
  #closed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay().setEncoding('latin1');
    socket.on('data', (text: string) => this.#take(text));
    socket.on('error', () => {}); // the `close` event that follows is handled
    this.ended = new Promise((resolve) => socket.once('close', resolve));
    this.ended.then(() => this.#end());
  }

  /** Connects to a port of this machine. */
  static open(port: number): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Wire(socket));
      });
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Sends bytes unchanged; text as UTF-8. */
  send(bytes: string | Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** The next answer. Rejects if the connection ends before it is complete. */
  answer(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error('the connection is closed'));
      this.#waiting.push({ resolve, reject });
      this.#take('');
    });
  }

  /** Closes the connection immediately. */
  destroy(): void {
    this.#closed = true;
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received += text;
    for (let waiting = this.#waiting[0]; waiting; waiting = this.#waiting[0]) {
      const parsed = parseAnswer(this.#received);
      if (parsed === null) return;
      this.#received = this.#received.slice(parsed.length);
      this.#waiting.shift();
      waiting.resolve(parsed.answer);
    }
  }

  #end(): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.splice(0)) {
      reject(new Error(`the connection ended in the middle of an answer: ${JSON.stringify(this.#received)}`));
    }
  }
}

/** An HTTP/1.1 request with its body's length. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === '' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}${length}\r\n${body}`;
}

/** The first answer in the received text and its length in characters; null if it is incomplete. */
function parseAnswer(received: string): { answer: Answer; length: number } | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = received.slice(0, end);
  const start = end + 4;
  const status = Number(head.slice(9, 12));
  const whole = (body: string, length: number) => ({ answer: { status, head, body }, length });
  if (status === 100) return parseAfter(received, start);
  if (/\r\ncontent-type: text\/event-stream/i.test(head)) return whole('', received.length);
  if (/\r\ntransfer-encoding: chunked/i.test(head)) {
    const body = parseChunks(received, start);
    return body && whole(utf8(body.text), body.end);
  }
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (received.length < start + length) return null;
  return whole(utf8(received.slice(start, start + length)), start + length);
}

/** The answer after an interim response. */
function parseAfter(received: string, start: number): ReturnType<typeof parseAnswer> {
  const next = parseAnswer(received.slice(start));
  return next && { ...next, length: start + next.length };
}

function parseChunks(received: string, start: number): { text: string; end: number } | null {
  let text = '';
  for (let at = start; ; ) {
    const line = received.indexOf('\r\n', at);
    if (line === -1) return null;
    const size = Number.parseInt(received.slice(at, line), 16);
    at = line + 2 + size + 2;
    if (received.length < at) return null;
    if (size === 0) return { text, end: at };
    text += received.slice(line + 2, line + 2 + size);
  }
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString();
}
