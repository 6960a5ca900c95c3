// Loaded into a server in development before its own code: assigns its output to the request that caused it.
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { Server } from 'node:http';
import { format } from 'node:util';

const requests = new AsyncLocalStorage();
const header = 'x-market-mcp-exchange';

const { emit } = Server.prototype;
Server.prototype.emit = function (event, ...rest) {
  if (event === 'listening') send({ listening: this.address()?.port });
  const exchange = event === 'request' ? Number(rest[0].headers[header]) : Number.NaN;
  if (Number.isNaN(exchange)) return emit.call(this, event, ...rest);
  return requests.run(exchange, () => emit.call(this, event, ...rest));
};

// The parent shows the lines of the runtime's log itself.
const hidesLog = import.meta.url.endsWith('#hides-log');

// The runtime writes the lines of several requests together.
const origins = new Map();
subscribe('market-mcp-runtime:log', (line) => origins.set(line, requests.getStore()));

for (const stream of ['stdout', 'stderr']) {
  const { write } = process[stream];
  process[stream].write = function (chunk, ...rest) {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    if (origins.size === 0) {
      sendOutput(stream, text);
      return write.call(this, chunk, ...rest);
    }
    const parts = text.split(/(?<=\n)/);
    const others = parts.filter((part) => !origins.has(part));
    for (const part of parts) {
      send({ stream, text: part, exchange: exchangeOf(part), isLog: origins.delete(part) });
    }
    return write.call(this, hidesLog ? others.join('') : chunk, ...rest);
  };
}

// The parent process is gone, and nobody else could end the server.
process.once('disconnect', () => process.exit(0));

// Node writes these directly, not through the streams.
process.on('uncaughtExceptionMonitor', (error) => {
  const crash = format(error);
  sendOutput('stderr', crash);
  send({ crash });
});

function sendOutput(stream, text) {
  send({ stream, text, exchange: exchangeOf(text), isLog: false });
}

function exchangeOf(text) {
  return origins.get(text) ?? requests.getStore() ?? null;
}

function send(message) {
  if (process.connected) process.send(message, () => {});
}
